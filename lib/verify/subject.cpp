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
      settings_(recording.settings) {
  if (!is_torch(recording)) return;
  verified_ = origin_ ? origin_->verified : verify(recording, trace);
  if (!verified_) return;
  if (verified_->reading.corrected) trace_ = verified_->reading.corrected.get();
  settings_.request_padding = verified_->reading.request_padding;
  if (settings_.expandable_segments.value_or(false)) {
    settings_.large_alignment = verified_->reading.large_alignment;
  }
}

std::string Subject::version_for(const StrategySpec& spec, const std::string& asked) const {
  if (!asked.empty() || !verified_) return asked;
  const auto release =
      torch::release_that_reads(spec, torch::parse_release(verified_->torch_version));
  return release ? release->text() : asked;
}

std::optional<TorchModel> Subject::model_of(const StrategySpec& spec,
                                            const std::string& asked) const {
  return torch_model(spec, settings(), version_for(spec, asked));
}

StrategyContext Subject::context(const StrategySpec& spec, const std::string& asked,
                                 DeviceModel& device) const {
  StrategyContext context{.device = device,
                          .recorded = settings(),
                          .torch_version = version_for(spec, asked),
                          .pools = trace_->pools,
                          .texts = recording_->texts};
  if (verified_) context.pool_options = verified_->reading.pool_options;
  return context;
}

StrategySpec usual_strategy(const Recording& recording) {
  if (recording.format == kPinnedHostFormat) return pinned_strategy(recording.settings.conf);
  return parse_strategy(is_torch(recording) && recording.settings.known() ? "recorded" : "torch");
}

}  // namespace memreplay
