#include "replay/contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "replay/plan_maker.hpp"

namespace memreplay {
namespace {

bool same_settings(const Subject& subject, const TorchModel& model) {
  const RecordedSettings* recorded = subject.settings();
  return recorded != nullptr && recorded->known() &&
         model.settings == torch::settings_of(*recorded, model.release);
}

// Under other rules for large requests alone a start of small blocks is what it would have been.
bool same_small_rules(const Subject& subject, const TorchModel& model) {
  if (subject.settings() == nullptr || !subject.settings()->known()) return false;
  const torch::Settings recorded = torch::settings_of(*subject.settings(), model.release);
  torch::Settings other = model.settings;
  // Only the first entry of the table rounds what the small pool serves.
  if (other.roundup_power2_divisions.front() != recorded.roundup_power2_divisions.front()) {
    return false;
  }
  other.roundup_power2_divisions = recorded.roundup_power2_divisions;
  other.max_split_size = recorded.max_split_size;
  other.max_non_split_rounding_size = recorded.max_non_split_rounding_size;
  other.large_segment_size = recorded.large_segment_size;
  return other == recorded;
}

// The rebuilt state determines what follows, unless the allocator looks at what is not in it: the
// ages of its blocks, or the order in which it gives them back. A device without room for that
// state would have led to another one.
bool start_state_suffices(const Subject& subject, const std::optional<TorchModel>& model,
                          std::optional<Bytes> room, const ReplayResult& result) {
  if (!result.started_exact || !model) return false;
  const bool same_rules = same_settings(subject, *model) ||
                          (starts_small(subject.trace()) && same_small_rules(subject, *model));
  return same_rules && (!room || *room >= reserved_bytes(subject.trace().start)) &&
         subject.verified() != nullptr && !subject.verified()->reading.released_memory &&
         model->settings.garbage_collection_threshold == 0 && result.metrics.oom_retries == 0 &&
         result.metrics.ooms == 0;
}

// It did all that was recorded, and nothing else, on a device that has room for how it began.
bool as_recorded(const Subject& subject, std::optional<Bytes> room, const ReplayResult& result) {
  return result.followed && result.followed->to_the_end &&
         (!room || *room >= reserved_bytes(subject.trace().start));
}

/// Its regions are mapped, each below the one before.
bool is_bfc_of_host(const Subject& subject, const StrategySpec& spec) {
  if (spec.name != "bfc") return false;
  const std::string_view name = find_option(spec, "name").value_or("");
  return subject.trace().gpu == kHostMemory || name.find("cpu") != name.npos ||
         name.find("CPU") != name.npos;
}

}  // namespace

bool starts_small(const Trace& trace) {
  const std::vector<SegmentInfo>& segments = trace.start.segments;
  return !segments.empty() && std::ranges::all_of(segments, &SegmentInfo::small_pool);
}

Contender::Contender(const Subject& subject, StrategySpec spec)
    : subject_(&subject),
      spec_(std::move(spec)),
      resolved_(subject.with_release(spec_)),
      model_(subject.model_of(resolved_)) {}

Contender::Contender(const Subject& subject, StrategySpec spec, const ProgramOptions& program)
    : Contender(subject, std::move(spec)) {
  if (const auto wish = plan_wish(spec_)) {
    plan_ = make_plan(program_of(subject, program), *wish, subject.recording().texts);
  }
}

std::unique_ptr<Strategy> Contender::make(const StrategyContext& context) const {
  return make_strategy(resolved_, context);
}

AddressPolicy Contender::order_of_addresses(AddressPolicy policy) const {
  if (policy != AddressPolicy::automatic) return policy;
  if (subject_->order()) return *subject_->order();
  const SharedDevice* shared = subject_->shared();
  const bool torch = shared ? std::ranges::any_of(shared->sharers,
                                                  [&](const Sharer& sharer) {
                                                    return is_torch(sharer.subject->recording());
                                                  })
                            : model_.has_value();
  if (torch) return AddressPolicy::cuda_linux;
  return is_bfc_of_host(*subject_, spec_) ? AddressPolicy::downward : AddressPolicy::upward;
}

bool Contender::adopts_start() const {
  const Recording& recording = subject_->recording();
  return is_torch(recording) && model_ &&
         model_->settings.expandable_segments ==
             recording.settings.expandable_segments.value_or(false);
}

bool Contender::follows_recording() const {
  const VerifyResult* verified = subject_->verified();
  if (subject_->origin() != nullptr) return false;
  // Another allocator's regions are all there is to follow.
  if (const std::string& own = subject_->recording().strategy; !own.empty()) {
    return parse_strategy(own).name == spec_.name &&
           std::ranges::any_of(subject_->trace().ops, is_driver_event);
  }
  if (verified == nullptr) return false;
  return spec_.name == "recorded" && verified->verdict == Verdict::exact &&
         model_->release.text() == verified->release;
}

bool Contender::has_recorded_settings() const {
  const auto recorded = subject_->model_of(parse_strategy("recorded"));
  return model_ && recorded && model_->settings == recorded->settings;
}

bool Contender::has_recorded_rules() const {
  const auto recorded = subject_->model_of(parse_strategy("recorded"));
  return has_recorded_settings() && model_->release == recorded->release;
}

bool Contender::goes_by_address() const {
  return model_ && subject_->verified() != nullptr && places_decide();
}

// In one reservation blocks lie as they lie, and a pool has a second one only where the first is
// full.
bool Contender::places_decide() const {
  if (model_->release.tie_break() != torch::Release::TieBreak::address) return false;
  const Trace& trace = subject_->trace();
  // One that was made from a recording has no events of the driver.
  const bool has_segments = subject_->origin() == nullptr
                                ? std::ranges::find(trace.ops, Op::segment_alloc) != trace.ops.end()
                                : !model_->settings.expandable_segments;
  return has_segments || !std::ranges::all_of(trace.start.segments, &SegmentInfo::expandable) ||
         subject_->verified()->reading.device_total.has_value();
}

bool Contender::start_matters(std::optional<Bytes> room, const ReplayResult& result) const {
  return !subject_->trace().coverage.starts_empty && !as_recorded(*subject_, room, result) &&
         !start_state_suffices(*subject_, model_, room, result);
}

std::string Contender::why_inexact(bool start_matters, std::optional<Bytes> room,
                                   const ReplayResult& result) const {
  const Subject& subject = *subject_;
  if (!subject.pluggable_pools().empty() && room && result.metrics.peak_reserved > *room) {
    return "memory of a pluggable allocator sleeps here while others are served, and the recording "
           "does not say when it slept";
  }
  if (as_recorded(subject, room, result)) return {};
  const Coverage& coverage = subject.trace().coverage;
  if (start_matters) {
    if (const auto& own = subject.trace().stated.own_count) {
      return fmt::format(
          "the recording starts with {} already allocated, and does not say where it lies",
          human_size(own->before));
    }
    const std::string cached =
        coverage.cached_bytes == 0
            ? std::string()
            : fmt::format(" and {} cached", human_size(coverage.cached_bytes));
    return fmt::format(
        "the recording starts with {} ({}){} already there, and does not say how they came to lie "
        "there",
        coverage.preexisting_blocks == 1 ? "1 block"
                                         : human_count(coverage.preexisting_blocks) + " blocks",
        human_size(coverage.preexisting_bytes), cached);
  }
  if (subject.origin() != nullptr && !subject.origin()->why_inexact.empty()) {
    return subject.origin()->why_inexact;
  }
  if (const auto shared = subject.shared()) {
    for (const Sharer& sharer : shared->sharers) {
      const std::string why = Contender(*sharer.subject, spec_).why_inexact(false, {}, {});
      if (!why.empty()) return fmt::format("in {} {}", sharer.path, why);
    }
    return {};
  }
  const VerifyResult* verified = subject.verified();
  if (verified == nullptr) return {};
  if (model_ && verified->verdict == Verdict::unsupported) return verified->reason;
  if (model_ && verified->verdict != Verdict::exact) {
    return fmt::format("the model reproduces only {} of {} placements of this recording",
                       human_count(verified->allocs_matched), human_count(verified->allocs));
  }
  if (result.followed && model_ && places_decide()) {
    return fmt::format(
        "from event {} on its device differs from the recorded one, and in this release addresses "
        "decide among free blocks of equal size",
        human_count(result.followed->left_at));
  }
  if (subject.origin() != nullptr && spec_.name == "recorded" && model_ && places_decide()) {
    return "in this release addresses decide among free blocks of equal size, and those of an "
           "edited program are not recorded";
  }
  const Reading& reading = verified->reading;
  if (model_ && !reading.settings_calls.empty() && spec_.name != "recorded") {
    return "the program changed its allocator settings during the run, and here it does not";
  }
  if (const auto forced = reading.deferrals.size() + reading.doubtful_completions; forced > 0) {
    return fmt::format(
        "{} frees were, or may have been, completed by a synchronisation of the recorded "
        "allocator, and the recording does not say when they would have completed without it",
        human_count(forced));
  }
  return {};
}

}  // namespace memreplay
