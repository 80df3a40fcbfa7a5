#include "verify/subject.hpp"

#include <utility>

#include "verify/pinned_memory.hpp"
#include "verify/recorded_order.hpp"

namespace memreplay {

Subject::Subject(const Recording& recording, const Trace& trace)
    : Subject(recording, trace, nullptr) {}

Subject::Subject(const Recording& recording, const Trace& trace,
                 std::shared_ptr<const Origin> origin)
    : recording_(&recording),
      trace_(&trace),
      origin_(std::move(origin)),
      order_(origin_ ? origin_->order : recorded_order(trace)),
      pluggable_pools_(origin_ ? origin_->pluggable_pools
                               : memreplay::pluggable_pools(trace, recording.texts)),
      settings_(recording.settings) {
  // In a state without events there is nothing of another allocator to decide.
  if (!is_torch(recording) && trace.size() > 0) return;
  verified_ = origin_ ? origin_->verified : verify(recording, trace);
  if (!verified_) return;
  if (verified_->reading.corrected) trace_ = verified_->reading.corrected.get();
  settings_.request_padding = verified_->reading.request_padding;
  if (settings_.expandable_segments.value_or(false)) {
    settings_.large_alignment = verified_->reading.large_alignment;
  }
}

const Reading* Subject::reading() const {
  if (const SharedDevice* device = shared()) return &device->reading;
  return verified_ ? &verified_->reading : nullptr;
}

StrategySpec Subject::with_release(const StrategySpec& spec) const {
  if (!spec.release.empty() || !verified_) return spec;
  const auto release = torch::release_that_reads(spec, torch::parse_release(verified_->release));
  return release ? under_release(spec, release->text()) : spec;
}

std::optional<TorchModel> Subject::model_of(const StrategySpec& spec) const {
  if (shared() != nullptr) return std::nullopt;  // each process has one of its own
  return torch_model(with_release(spec), settings());
}

StrategyContext Subject::context(DeviceModel& device) const {
  StrategyContext context{
      .device = device, .recorded = settings(), .pools = trace_->pools, .texts = recording_->texts};
  if (verified_) context.pool_options = verified_->reading.pool_options;
  return context;
}

StrategySpec usual_strategy(const Recording& recording) {
  if (recording.format == kPinnedHostFormat) return pinned_strategy(recording.settings.conf);
  const bool known = is_torch(recording) && recording.settings.known();
  return parse_strategy(known || recording.format == kTogetherFormat ? "recorded" : "torch");
}

std::vector<StrategySpec> asked_or_usual(const std::vector<StrategySpec>& asked,
                                         const Recording& recording, const std::string& release) {
  std::vector<StrategySpec> strategies = asked;
  if (strategies.empty()) strategies.push_back(usual_strategy(recording));
  for (StrategySpec& spec : strategies) spec = under_release(std::move(spec), release);
  return strategies;
}

}  // namespace memreplay
