#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategy/torch/torch.hpp"
#include "trace/trace.hpp"
#include "verify/origin.hpp"
#include "verify/verify.hpp"

namespace memreplay {

/// One device of a recording, read as its verification reads it: what every replay of it needs.
class Subject {
 public:
  /// Verifies recordings of PyTorch's allocator. `recording` and `trace` outlive this.
  Subject(const Recording& recording, const Trace& trace);
  /// For a recording that was made from another one, and is not verified. `origin` may be null:
  /// that is the other constructor.
  Subject(const Recording& recording, const Trace& trace, std::shared_ptr<const Origin> origin);

  const Recording& recording() const { return *recording_; }
  /// The trace, with what the recording does not state put right.
  const Trace& trace() const { return *trace_; }
  /// The verification of the trace, or of its origin; null for recordings of other allocators than
  /// PyTorch's.
  const VerifyResult* verified() const { return verified_ ? &*verified_ : nullptr; }
  /// What the recording shows beside its events; null where that is nothing.
  const Reading* reading() const;
  /// The processes whose recordings it was made from; null where it is of one.
  const SharedDevice* shared() const { return origin_ ? origin_->shared.get() : nullptr; }
  /// What the recording was made from; null where it is as it was recorded.
  const Origin* origin() const { return origin_.get(); }
  /// In which the recorded device handed out addresses; unset where it does not show.
  std::optional<AddressPolicy> order() const { return order_; }
  /// See that function.
  const std::vector<PluggablePool>& pluggable_pools() const { return pluggable_pools_; }
  /// The settings of the recorded allocator; null where it was not PyTorch's.
  const RecordedSettings* settings() const { return verified_ ? &settings_ : nullptr; }

  /// The strategy by the rules that hold here: of its own release, else of the one that the
  /// recording fits, or the first after it that knows the settings. Unset still where the recording
  /// or the strategy is another allocator's.
  StrategySpec with_release(const StrategySpec& spec) const;
  /// The model of PyTorch's allocator that the strategy is; unset for other strategies.
  std::optional<TorchModel> model_of(const StrategySpec& spec) const;
  /// The context in which a strategy for this recording is made. `device` outlives it.
  StrategyContext context(DeviceModel& device) const;

 private:
  const Recording* recording_;
  const Trace* trace_;
  std::shared_ptr<const Origin> origin_;
  std::optional<VerifyResult> verified_;
  std::optional<AddressPolicy> order_;
  std::vector<PluggablePool> pluggable_pools_;
  RecordedSettings settings_;  ///< the recording's, as verification reads them
};

/// The strategy that stands for the allocator of a recording: `recorded` where its settings are
/// stored, `pinned` for host memory, else `torch`.
StrategySpec usual_strategy(const Recording& recording);
/// The strategies asked for, else the usual one, by the rules of this PyTorch (empty: as they are).
std::vector<StrategySpec> asked_or_usual(const std::vector<StrategySpec>& asked,
                                         const Recording& recording, const std::string& release);

}  // namespace memreplay
