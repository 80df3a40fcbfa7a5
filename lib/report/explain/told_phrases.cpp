#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "core/text.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/recording_advice.hpp"

namespace memreplay {
namespace {

std::string told_spare(const ToldExplanation& told) {
  return human_size(static_cast<Bytes>(std::llabs(told.room.value_or(0))));
}

bool is_bfc(const ToldExplanation& told) { return told.failure.source == ToldFailure::Source::bfc; }

// "Shortage" or, where the figures are too round to be certain, "Probably a shortage"
std::string told_head(const ToldExplanation& told, const char* sure, const char* unsure) {
  return told.sure ? sure : fmt::format("Probably {}", unsure);
}

// What chunks of their size lack for the request, where requests of theirs might have found room.
std::int64_t missing_by_chunks(const ToldExplanation& told) {
  const ToldFailure& f = told.failure;
  if (!is_bfc(told) || !f.live_requested || !f.live || !f.limit) return 0;
  return static_cast<std::int64_t>(f.live->bytes + f.requested->bytes) -
         static_cast<std::int64_t>(f.limit->bytes);
}

std::string told_waste(const ToldExplanation& told, const std::string& head, const char* how_much) {
  return fmt::format(
      "{}: {} are missing for the {} request, and {} is lost in chunks that are larger than what "
      "was asked for",
      head, human_size(static_cast<Bytes>(missing_by_chunks(told))),
      human_size(told.failure.requested->bytes), how_much);
}

std::string told_unknown(const ToldExplanation& told) {
  const ToldFailure& f = told.failure;
  if (f.source == ToldFailure::Source::torch_summary) {
    const std::string failures =
        f.ooms.value_or(0) == 0 ? "" : " Memory ran out before, by its count of OOMs.";
    return fmt::format("Unknown: a memory_summary() says what is held, not what was asked for.{}",
                       failures);
  }
  if (!told.missing.empty()) {
    return fmt::format("Unknown: the text does not say {}.", fmt::join(told.missing, ", nor "));
  }
  return fmt::format(
      "Unknown: {} were free on the device, enough for the {} request; what refused it then is not "
      "in the text.",
      human_size(f.device_free->bytes), human_size(f.requested->bytes));
}

std::string told_outside(const ToldExplanation& told) {
  const ToldFailure& f = told.failure;
  const std::string begin = told_head(told, "Outside", "outside");
  if (is_bfc(told)) {
    return fmt::format(
        "{}: the allocator's limit leaves room for the {} request, but the device gave no more: "
        "others hold it.",
        begin, human_size(f.requested->bytes));
  }
  if (f.limit && f.device_free->bytes >= f.requested->bytes) {
    return fmt::format("{}: a memory limit of {} refused the {} request; the device had {} free.",
                       begin, human_size(f.limit->bytes), human_size(f.requested->bytes),
                       human_size(f.device_free->bytes));
  }
  return fmt::format("{}: the {} request would have fitted, did others not hold {} of the device.",
                     begin, human_size(f.requested->bytes), human_size(*told.others));
}

std::string told_shortage(const ToldExplanation& told) {
  const std::string request = human_size(told.failure.requested->bytes);
  const std::string head = told_head(told, "Shortage", "a shortage");
  if (!told.sure && missing_by_chunks(told) > 0) {
    return told_waste(told, head, "about as much") + "; no allocator saves all of that.";
  }
  return fmt::format("{}: {} {} by {}.", head,
                     told.failure.live
                         ? fmt::format("what is live and the {} request together exceed", request)
                         : fmt::format("the {} request alone exceeds", request),
                     is_bfc(told) ? "the allocator's limit" : "the device", told_spare(told));
}

}  // namespace

std::string told_sentence(const ExplainedDevice& device) {
  const ToldExplanation& told = *device.told;
  switch (device.explanation.cause) {
    case Cause::shortage:
      return told_shortage(told);
    case Cause::fragmentation:
      if (missing_by_chunks(told) > 0) {
        return told_waste(told, told_head(told, "Fragmentation", "fragmentation"), "more") + ".";
      }
      return fmt::format("{}: the {} request would have fitted, with {} to spare.",
                         told_head(told, "Fragmentation", "fragmentation"),
                         human_size(told.failure.requested->bytes), told_spare(told));
    case Cause::outside:
      return told_outside(told);
    default:
      return told_unknown(told);
  }
}

std::string told_advice(const ExplainedDevice& device) {
  const ToldExplanation& told = *device.told;
  const Cause cause = device.explanation.cause;
  if (is_bfc(told)) {
    if (cause == Cause::fragmentation) {
      const std::string regions =
          told.failure.segments.value_or(0) > 1
              ? " Or preallocate, so that the pool is one region instead of several: "
                "TF_FORCE_GPU_ALLOW_GROWTH=false, XLA_PYTHON_CLIENT_PREALLOCATE=true."
              : "";
      return "TF_GPU_ALLOCATOR=cuda_malloc_async (TensorFlow) or "
             "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async (JAX) usually serves this request." +
             regions;
    }
    if (cause == Cause::shortage) {
      return told_head(told, "No", "no") +
             " allocator setting helps within this limit. Where the device has more, raise it: "
             "XLA_PYTHON_CLIENT_MEM_FRACTION (JAX), a larger memory_limit (TensorFlow).";
    }
  } else {
    if (cause == Cause::fragmentation) {
      return "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True usually serves this request, unless "
             "it was set already.";
    }
    if (cause == Cause::shortage) {
      return told_head(told, "No", "no") + " allocator setting will help.";
    }
    if (cause == Cause::outside && told.failure.limit) {
      return "A larger per_process_memory_fraction helps, or none.";
    }
  }
  return cause == Cause::outside ? "nvidia-smi lists the processes that hold the device." : "";
}

std::string told_beyond(const ExplainedDevice& device) {
  const ToldExplanation& told = *device.told;
  if (is_bfc(told)) {
    const std::string whole =
        told.missing.empty() ? "" : " Paste the whole report, from \"ran out of memory\" on.";
    return "Not in the text: how large the device is, and which code holds what is live." + whole;
  }
  return fmt::format(
      "Not in the text: which code asked, and which holds what is live. To learn that, and which "
      "setting helps, {}",
      how_to_record({}));
}

}  // namespace memreplay
