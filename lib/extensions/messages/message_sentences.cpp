#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/text.hpp"
#include "extensions/messages/message_facts.hpp"
#include "questions/explain/message_phrases.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

using Message = ExplainedMessage;

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

std::string nonsense(const Message& e) {
  return fmt::format("The requested size is an overflow, not a real size: {}; no device serves it.",
                     overflow(e.message.overflows.front()));
}

// "27.6 GiB are not on the device"
std::string asleep(const Message& e) {
  return fmt::format(
      "Unknown: this process holds {} of the device, of the {} that PyTorch counts as reserved: "
      "the "
      "other {} are not on the device, as those of a pool that sleeps or is offloaded. {} were "
      "free "
      "for the {} request.",
      size_of(e, Figure::process), size_of(e, Figure::reserved), human_size(*e.asleep),
      size_of(e, Figure::device_free), size_of(e, Figure::requested));
}

// "51.2 GiB free of 8 GiB"
std::string contradiction(const Message& e) {
  return fmt::format(
      "The figures contradict each other: {} free on a device of {}, as where host and GPU share "
      "memory (an APU).",
      size_of(e, Figure::device_free), size_of(e, Figure::device));
}

std::string unknown(const Message& e) {
  const OomMessage& m = e.message;
  if (e.asleep) return asleep(e);
  if (e.contradicts) return "Unknown: " + contradiction(e);
  if (!e.missing.empty()) {
    const auto rest = difference_of(m[Figure::device], m[Figure::reserved]);
    const bool bounded = is_torch(e) && rest && m[Figure::free_inside] && m[Figure::requested];
    return fmt::format(
        "Unknown: not found in the text: {}.{}", fmt::join(e.missing, ", "),
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
  if (e.contradicts) {
    return fmt::format("{}: the {} request exceeds the device's {}. {}", begin, request,
                       size_of(e, Figure::device), contradiction(e));
  }
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
  std::string beside;
  if (others_hold_most(e)) {
    beside = fmt::format(" {} of the {} device are in use outside PyTorch's allocator.",
                         human_size(*e.others), human_size(device->bytes));
  } else if (is_full(e)) {
    beside = fmt::format(" The card is full: {} of the {} reserved are live.",
                         size_of(e, Figure::live), size_of(e, Figure::reserved));
  }
  return fmt::format("{}: the {} request would have fitted, with {} to spare.{}", begin,
                     size_of(e, Figure::requested), spare(e), beside);
}

// Reports in a row: whether what is live grows.
std::string row_sentence(const Message& e) {
  const ReportRow& row = *e.row;
  const auto size = [](const RoundedBytes& figure) { return human_size(figure.bytes); };
  if (row.per_report > 0) {
    return fmt::format(
        "Live memory grows by {} from each report to the next: from {} to {} over {} reports.",
        human_size(static_cast<Bytes>(row.per_report)), size(row.first), size_of(e, Figure::live),
        human_count(row.reports));
  }
  return fmt::format("Only a state: {} are live in the newest of {} reports, which have {} to {}.",
                     size_of(e, Figure::live), human_count(row.reports), size(row.least),
                     size(row.most));
}

std::string too_few_addresses(const Message& e) {
  return fmt::format(
      "Address space: the {} request is larger than the {} of addresses that "
      "expandable_segments_reserve gives a segment; {} were free on the device.",
      size_of(e, Figure::requested), size_of(e, Figure::segment_reserve),
      size_of(e, Figure::device_free));
}

}  // namespace

std::string message_sentence(const ExplainedMessage& e) {
  if (asks_for_nonsense(e)) return nonsense(e);
  if (e.row) return row_sentence(e);
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
