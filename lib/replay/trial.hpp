#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/plan.hpp"
#include "device/real/block_work.hpp"
#include "device/real/real_device.hpp"
#include "device/real/timed_memory.hpp"
#include "device/simulated_device.hpp"
#include "device/watch/capacity_watch.hpp"
#include "device/watch/cost_meter.hpp"
#include "device/watch/device_log.hpp"
#include "device/watch/heard_device.hpp"
#include "device/watch/ledger.hpp"
#include "replay/following_device.hpp"
#include "replay/replay.hpp"
#include "strategy/torch/settings.hpp"
#include "verify/subject.hpp"

namespace memreplay {

struct TrialOptions {
  SimulatedDeviceOptions device;
  RealMemory* memory = nullptr;  ///< replaces `device`, but for its capacity and reserve; null:
                                 ///< simulate
  Touch touch = Touch::none;     ///< on real memory
  bool timed = false;            ///< every operation, and every call to a driver
  CostModel cost;                ///< costs of a simulated device's calls
  std::uint64_t uses = 1;        ///< uses of a block after it was moved out
  bool audit = false;            ///< the ledger judges every placement
  bool log_device = false;       ///< every call to the device is written down
  bool watch_capacity = false;   ///< what the outcome depends on is noted
  bool sleeps_unseen = true;     ///< pools that may have slept do while others ask for memory
  /// By event, of PyTorch's allocator alone; empty: `recorded` makes those of the recording.
  std::vector<SettingsCall> settings_calls;
};

/// One strategy over a device of its own, tried on one subject.
class Trial {
 public:
  /// `plan` for strategies that follow one (see plan_for). Throws UsageError where the strategy
  /// cannot be made. `subject` outlives this.
  Trial(const Subject& subject, const StrategySpec& spec, const TrialOptions& options,
        std::shared_ptr<const Plan> plan = {});
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// To be called once. Throws DeviceError where a driver fails, and AuditError.
  ReplayResult run(const ReplayOptions& asked);

  const Strategy& strategy() const { return *strategy_; }
  /// What was asked of the device so far; always the same object.
  const DeviceUsage& usage() const { return device_->usage(); }
  Bytes device_free() const { return device_->free_bytes(); }
  const DeviceModel& device() const { return *device_; }
  /// What the strategy asked of the device; empty without `log_device`.
  const DeviceLog& log() const { return log_; }
  /// How the outcome depends on the capacity; null without `watch_capacity`.
  const CapacityWatch* watch() const { return watched_ ? &*watched_ : nullptr; }

 private:
  /// The innermost device.
  DeviceModel& open(const StrategySpec& spec, const TrialOptions& options);
  DeviceModel& open_simulated(const StrategySpec& spec, const TrialOptions& options);
  /// Whoever listens hears of all calls from then on.
  void tell(Watcher& watcher);
  void note_reality(RunMetrics& metrics);
  void note_tenants(RunMetrics& metrics) const;

  const Subject& subject_;
  bool adopt_start_;
  std::optional<OpTimes> times_;
  RecordedSettings settings_;  ///< the recording's; also what its own device tells
  std::vector<OtherTenant> tenants_;
  bool sleeps_unseen_;
  std::optional<Bytes> room_;  ///< unset: endless
  std::optional<SimulatedDevice> simulated_;
  std::optional<FollowingDevice> following_;
  std::optional<TimedMemory> timed_memory_;
  std::optional<RealDevice> real_;
  std::optional<BlockWork> work_;
  std::optional<TimedDevice> timed_device_;
  CostModel cost_;
  std::optional<CostMeter> meter_;  ///< where the cost is not the same for every size
  DeviceLog log_;
  std::optional<Ledger> ledger_;
  std::optional<HeardDevice> heard_;  ///< where somebody listens
  DeviceModel* device_;  ///< the outermost, but for the watch: that one sees the strategy alone
  std::optional<CapacityWatch> watched_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<SettingsCall> settings_calls_;
};

/// The order of addresses for a strategy: the policy, or for `automatic` that of the recording,
/// else what is usual for the strategy.
AddressPolicy policy_for(const Subject& subject, const StrategySpec& spec, AddressPolicy policy);

/// What the strategy must know of the future; null where it follows no plan.
std::shared_ptr<const Plan> plan_for(const Subject& subject, const StrategySpec& spec,
                                     const ProgramOptions& options);

}  // namespace memreplay
