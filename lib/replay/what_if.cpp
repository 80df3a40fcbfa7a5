#include "replay/what_if.hpp"

#include <fmt/format.h>

#include "core/text.hpp"

namespace memreplay {
namespace {

bool same_settings(const Recording& recording, const TorchModel& model) {
  return recording.settings.present &&
         model.settings == torch::settings_of(recording.settings, model.release);
}

// The rebuilt state determines what follows, unless the allocator looks at what is not in it: the
// ages of its blocks, or the order in which it gives them back. A device without room for that
// state would have led to another one.
bool start_state_suffices(const Recording& recording, const Trace& trace,
                          const std::optional<TorchModel>& model, const VerifyResult* verified,
                          std::optional<Bytes> room, const ReplayResult& result) {
  return result.started_exact && model && same_settings(recording, *model) &&
         (!room || *room >= reserved_bytes(trace.start)) && verified != nullptr &&
         !verified->reading.released_memory && model->settings.garbage_collection_threshold == 0 &&
         result.metrics.oom_retries == 0 && result.metrics.ooms == 0;
}

}  // namespace

bool adopts_start(const Recording& recording, const std::optional<TorchModel>& model) {
  return model && model->settings.expandable_segments ==
                      recording.settings.expandable_segments.value_or(false);
}

std::string why_inexact(const Recording& recording, const Trace& trace,
                        const std::optional<TorchModel>& model, const VerifyResult* verified,
                        std::optional<Bytes> room, const ReplayResult& result) {
  if (!trace.coverage.starts_empty &&
      !start_state_suffices(recording, trace, model, verified, room, result)) {
    return fmt::format(
        "the recording starts with {} blocks ({}) already there, and how they came to lie where "
        "they lie is not in it",
        human_count(trace.coverage.preexisting_blocks),
        human_size(trace.coverage.preexisting_bytes));
  }
  if (verified == nullptr) return {};
  if (model && verified->verdict == Verdict::unsupported) return verified->reason;
  if (model && verified->verdict != Verdict::exact) {
    return fmt::format("the model reproduces only {} of {} placements of this recording",
                       human_count(verified->allocs_matched), human_count(verified->allocs));
  }
  const Reading& reading = verified->reading;
  if (model && !reading.settings_changes.empty() && same_settings(recording, *model)) {
    return "the program changed its allocator settings on the way, and here the last ones hold "
           "throughout";
  }
  if (const auto forced = reading.deferrals.size() + reading.doubtful_completions; forced > 0) {
    return fmt::format(
        "{} frees were or may have been completed by a synchronisation of the recorded allocator, "
        "and when they would have been without it is not in the recording",
        human_count(forced));
  }
  return {};
}

}  // namespace memreplay
