#include "report/explain/message_phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/text.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

using Message = ExplainedMessage;

std::string size_of(const Message& e, Figure figure) {
  return human_size(e.message[figure].value_or(RoundedBytes{}).bytes);
}

std::string spare(const Message& e) {
  return human_size(static_cast<Bytes>(std::llabs(e.room.value_or(0))));
}

bool is_bfc(const Message& e) { return e.message.kind == "bfc"; }
bool is_torch(const Message& e) { return e.message.kind == "torch"; }
/// A failure that is judged by its figures; the other kinds say themselves what it is.
bool is_judged(const Message& e) { return is_torch(e) || (is_bfc(e) && !e.message.harmless); }

// "Shortage" or, where the figures are too round to be certain, "Probably a shortage"
std::string head(const Message& e, const char* sure, const char* unsure) {
  return e.sure ? sure : fmt::format("Probably {}", unsure);
}

// What chunks of their size lack for the request, where requests of theirs might have found room.
std::int64_t missing_by_chunks(const Message& e) {
  const OomMessage& m = e.message;
  if (!is_bfc(e) || !m[Figure::live_requested] || !m[Figure::live] || !m[Figure::limit]) return 0;
  return static_cast<std::int64_t>(m[Figure::live]->bytes + m[Figure::requested]->bytes) -
         static_cast<std::int64_t>(m[Figure::limit]->bytes);
}

std::string waste(const Message& e, const std::string& begin, const char* how_much) {
  return fmt::format(
      "{}: {} are missing for the {} request, and {} is lost in chunks that are larger than their "
      "requests",
      begin, human_size(static_cast<Bytes>(missing_by_chunks(e))), size_of(e, Figure::requested),
      how_much);
}

// "17179869182.00 GiB is 2^64 bytes less 2 GiB, a negative number as a size"
std::string overflow(const std::string& written) {
  if (written.starts_with("more")) return written;
  const bool in_gib = written.ends_with("GiB") || written.ends_with("GB");
  const double bytes = std::ldexp(std::strtod(written.c_str(), nullptr), in_gib ? 30 : 0);
  const double less = std::ldexp(1.0, 64) - bytes;
  if (less <= 0 || less > std::ldexp(1.0, 63)) return written + ", more than any device has";
  return fmt::format("{} is 2^64 bytes less {}, a negative number as a size", written,
                     human_size(static_cast<Bytes>(less)));
}

// The request, where that is what is beyond any size.
bool asks_for_nonsense(const Message& e) {
  return !e.message.overflows.empty() && !e.message[Figure::requested];
}

std::string nonsense(const Message& e) {
  return fmt::format("The requested size is an overflow, not a real size: {}; no device serves it.",
                     overflow(e.message.overflows.front()));
}

std::string unknown(const Message& e) {
  const OomMessage& m = e.message;
  if (!e.missing.empty()) {
    const auto rest = difference_of(m[Figure::device], m[Figure::reserved]);
    const bool bounded = is_torch(e) && rest && m[Figure::free_inside] && m[Figure::requested];
    return fmt::format(
        "Unknown: the text does not say {}.{}", fmt::join(e.missing, ", nor "),
        bounded ? fmt::format(
                      " {} were free inside segments and at most {} outside, for the {} request.",
                      size_of(e, Figure::free_inside), human_size(rest->bytes),
                      size_of(e, Figure::requested))
                : "");
  }
  return fmt::format(
      "Unknown: {} were free on the device, enough for the {} request; the text does not say what "
      "refused it.",
      size_of(e, Figure::device_free), size_of(e, Figure::requested));
}

std::string limited(const Message& e) {
  return fmt::format("{}: a memory limit of {} refused the {} request; the device had {} free.",
                     head(e, "Limit", "a limit"), size_of(e, Figure::limit),
                     size_of(e, Figure::requested), size_of(e, Figure::device_free));
}

std::string outside(const Message& e) {
  const std::string begin = head(e, "Outside", "outside");
  const std::string request = size_of(e, Figure::requested);
  if (is_bfc(e)) {
    return fmt::format(
        "{}: the allocator's limit leaves room for the {} request, but the device gave no more: "
        "others hold its memory.",
        begin, request);
  }
  if (e.holder && e.holder->held.bytes > e.own_outside.value_or(0)) {
    return fmt::format(
        "{}: process {} holds {} of the {} device; this process has {} reserved, {} of it free, "
        "for "
        "the {} request.",
        begin, e.holder->id, human_size(e.holder->held.bytes), size_of(e, Figure::device),
        size_of(e, Figure::reserved), size_of(e, Figure::free_inside), request);
  }
  if (e.own_outside && *e.own_outside >= e.others.value_or(0) / 2) {
    return fmt::format(
        "{}: the {} request would have fitted if this process itself did not hold {} of the device "
        "outside PyTorch's allocator.",
        begin, request, human_size(*e.own_outside));
  }
  return fmt::format(
      "{}: the {} request would have fitted if {} of the device were not in use outside PyTorch's "
      "allocator, by other processes or by this one's context and libraries.",
      begin, request, human_size(e.others.value_or(0)));
}

std::string what_there_is(const Message& e) {
  const OomMessage& m = e.message;
  if (is_bfc(e)) {
    return "the allocator's limit" + (m[Figure::limit] ? " of " + size_of(e, Figure::limit) : "");
  }
  const auto& device = m[Figure::device];
  if (!is_torch(e) || !device || !e.others || *e.others == 0 || *e.others > device->bytes) {
    return "the device";
  }
  return fmt::format("the {} that PyTorch can use of the device",
                     human_size(device->bytes - *e.others));
}

std::string shortage(const Message& e) {
  const std::string request = size_of(e, Figure::requested);
  const std::string begin = head(e, "Shortage", "a shortage");
  if (!e.sure && missing_by_chunks(e) > 0) {
    return waste(e, begin, "about as much") + "; no allocator can save all of it.";
  }
  if (is_torch(e) && e.message[Figure::largest_buffer]) {
    return fmt::format(
        "{}: the {} request is one block, and this platform allows {} per block at most.", begin,
        request, size_of(e, Figure::largest_buffer));
  }
  if (e.beyond_device) {
    return fmt::format(
        "{}: live memory and the {} request exceed the device's {} by {}; PyTorch has {} reserved, "
        "and the part beyond the device is in host memory.",
        begin, request, size_of(e, Figure::device), spare(e), size_of(e, Figure::reserved));
  }
  const OomMessage& m = e.message;
  return fmt::format("{}: {} {} by {}.", begin,
                     m[Figure::live]
                         ? fmt::format("live memory and the {} request together exceed", request)
                         : fmt::format("the {} request alone exceeds", request),
                     what_there_is(e), spare(e));
}

std::string fragmentation(const Message& e) {
  const std::string begin = head(e, "Fragmentation", "fragmentation");
  if (missing_by_chunks(e) > 0) return waste(e, begin, "more") + ".";
  const auto& device = e.message[Figure::device];
  const bool mostly_outside = is_torch(e) && device && e.others && *e.others > device->bytes / 2;
  return fmt::format("{}: the {} request would have fitted, with {} to spare.{}", begin,
                     size_of(e, Figure::requested), spare(e),
                     mostly_outside ? fmt::format(" {} of the {} device are in use outside "
                                                  "PyTorch's allocator.",
                                                  human_size(*e.others), human_size(device->bytes))
                                    : "");
}

std::string too_few_addresses(const Message& e) {
  return fmt::format(
      "Address space: the {} request is larger than the {} of addresses that "
      "expandable_segments_reserve gives a segment; {} were free on the device.",
      size_of(e, Figure::requested), size_of(e, Figure::segment_reserve),
      size_of(e, Figure::device_free));
}

std::string bfc_advice(const Message& e) {
  if (e.cause == Cause::fragmentation) {
    const std::string regions =
        e.message[Count::segments].value_or(0) > 1
            ? " Or preallocate, so that the pool is one region instead of several: "
              "TF_FORCE_GPU_ALLOW_GROWTH=false, XLA_PYTHON_CLIENT_PREALLOCATE=true."
            : "";
    return "TF_GPU_ALLOCATOR=cuda_malloc_async (TensorFlow) or "
           "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async (JAX) usually serves this request." +
           regions;
  }
  if (e.cause == Cause::shortage) {
    return head(e, "No", "no") +
           " allocator setting helps within this limit. If the device has more memory, raise it: "
           "XLA_PYTHON_CLIENT_MEM_FRACTION (JAX), a larger memory_limit (TensorFlow).";
  }
  return e.cause == Cause::outside ? "nvidia-smi lists the processes that hold the device." : "";
}

// Free memory that the allocator cannot use: what its release and its back end have against that.
std::string segments_advice(const OomMessage& m) {
  const std::string& backend = m[OomWord::backend];
  if (m.expandable_segments) {
    return "expandable_segments is on already: the free memory is in segments of other streams or "
           "pools, or beside live blocks. Call torch.cuda.empty_cache() between phases, or use "
           "fewer streams.";
  }
  if (m.until) {
    return fmt::format(
        "This message is from PyTorch {}.{} or older. 2.1 or newer serves the request with "
        "PYTORCH_{}_ALLOC_CONF=expandable_segments:True; in this one max_split_size_mb (from 1.9) "
        "or torch.cuda.empty_cache() may help.",
        m.until->major, m.until->minor, backend.empty() ? "CUDA" : backend);
  }
  if (backend == "XPU") {
    return "PYTORCH_ALLOC_CONF=expandable_segments:True usually serves this request from PyTorch "
           "2.10 on; before that call torch.xpu.empty_cache() when sizes change.";
  }
  if (backend == "HIP") {
    return "PYTORCH_HIP_ALLOC_CONF=expandable_segments:True serves this request if this release "
           "has it for ROCm (else it warns); if not, PYTORCH_HIP_ALLOC_CONF=max_split_size_mb:512 "
           "may.";
  }
  const std::string variable = backend.empty() ? "CUDA" : backend;
  return fmt::format(
      "PYTORCH_{}_ALLOC_CONF=expandable_segments:True {}usually serves this request.", variable,
      m.since || variable == "NPU" ? "" : "(PyTorch 2.1 or newer) ");
}

std::string outside_advice(const Message& e) {
  if (e.holder && e.holder->held.bytes > e.own_outside.value_or(0)) {
    return fmt::format("End process {}, or use another device; no allocator setting will help.",
                       e.holder->id);
  }
  if (e.own_outside && *e.own_outside >= e.others.value_or(0) / 2) {
    return "This is its CUDA context, NCCL, CUDA graphs and libraries: use fewer communicators, "
           "graphs or workspaces. The text names no other process that holds memory.";
  }
  return "nvidia-smi lists the processes that hold the device.";
}

std::string torch_advice(const Message& e) {
  const OomMessage& m = e.message;
  switch (e.cause) {
    case Cause::fragmentation:
      return segments_advice(m);
    case Cause::shortage:
      if (m[Figure::largest_buffer])
        return "Split that tensor: use a smaller batch, or work in chunks.";
      if (!e.beyond_device) return head(e, "No", "no") + " allocator setting will help.";
      return "No allocator setting will help. Drivers of Windows and WSL move memory to the host "
             "when the device is full, which is slow; the NVIDIA control panel can forbid it (CUDA "
             "- Sysmem Fallback Policy).";
    case Cause::limit:
      return "Raise per_process_memory_fraction, or remove it.";
    case Cause::outside:
      return outside_advice(e);
    case Cause::address_space:
      return fmt::format(
          "Set expandable_segments_reserve (or expandable_segments_reserve_by_class) to {} or "
          "more, or "
          "leave it unset.",
          size_of(e, Figure::requested));
    default:
      return "";
  }
}

}  // namespace

std::string message_sentence(const ExplainedMessage& e) {
  if (asks_for_nonsense(e)) return nonsense(e);
  if (!is_judged(e)) return phrases_of(e.message).sentence;
  switch (e.cause) {
    case Cause::shortage:
      return shortage(e);
    case Cause::fragmentation:
      return fragmentation(e);
    case Cause::limit:
      return limited(e);
    case Cause::outside:
      return outside(e);
    case Cause::address_space:
      return too_few_addresses(e);
    default:
      return unknown(e);
  }
}

namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string advice_of(const ExplainedMessage& e) {
  if (asks_for_nonsense(e)) {
    return "Look for a shape or a count that became negative or wrapped around, such as -1 as a "
           "length, "
           "or a product in 32 bits.";
  }
  if (!is_judged(e)) return phrases_of(e.message).advice;
  const std::string advice = is_bfc(e) ? bfc_advice(e) : torch_advice(e);
  if (e.cause != Cause::fragmentation || !e.message[Figure::requested]) return advice;
  return fmt::format("{} In the program: free blocks before the {} request, or make it first.",
                     advice, size_of(e, Figure::requested));
}

}  // namespace

std::string message_advice(const ExplainedMessage& e) {
  const std::string& backend = e.message[OomWord::backend];
  const char* const tool = backend == "HIP"   ? "rocm-smi"
                           : backend == "NPU" ? "npu-smi info"
                           : backend == "XPU" ? "xpu-smi ps"
                                              : "nvidia-smi";
  return replaced(advice_of(e), "nvidia-smi", tool);
}

std::string message_decides(const ExplainedMessage& e) {
  if (!is_judged(e)) return "";
  if (is_bfc(e)) {
    const std::string whole =
        e.missing.empty() ? "" : " Paste the whole report, from \"ran out of memory\" on.";
    return "Not in the text: the size of the device, and which code holds live memory." + whole;
  }
  const std::string exact = e.sure || e.cause == Cause::unknown
                                ? ""
                                : " Its figures are rounded too much to be certain: "
                                  "torch.cuda.memory_stats() has exact ones.";
  const std::string odd =
      e.message.overflows.empty() || asks_for_nonsense(e)
          ? ""
          : fmt::format(" {} in it is an overflow, not a size.", e.message.overflows.front());
  return "Not in the text: which code made the request, and which code holds live memory." + exact +
         odd;
}

std::string message_record(const ExplainedMessage& e) {
  if (!is_judged(e)) return phrases_of(e.message).record;
  if (is_bfc(e)) return "";
  TraceSummary trace;
  if (e.message[OomWord::backend] == "NPU") trace.settings_variable = "PYTORCH_NPU_ALLOC_CONF";
  std::string how = how_to_record(trace);
  if (e.message[OomWord::backend] == "XPU") how = replaced(how, "torch.cuda", "torch.xpu");
  if (e.message.until) how = replaced(how, "record:", "record with PyTorch 2.1 or newer:");
  return "To find out, and to see which setting helps, " + how;
}

}  // namespace memreplay
