#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device_wrapper.hpp"
#include "device/real/block_work.hpp"
#include "device/real/real_device.hpp"
#include "device/real/timed_memory.hpp"
#include "device/simulated_device.hpp"
#include "device/watch/heard_device.hpp"
#include "device/watch/ledger.hpp"
#include "replay/contender.hpp"
#include "replay/replay.hpp"
#include "strategy/torch/allocator.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/trace.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A simulated device that gives what the recorded one gave, where it gave it, for as long as it is
/// asked for the same at the same events. Then it goes on by itself, under its own policy; where
/// addresses go upward, above all given so far.
/// O(1) a call beside what the simulated device costs.
class FollowingDevice final : public DeviceWrapper {
 public:
  /// `device` was asked for nothing yet. `total`, where the recording decides over refusals too, is
  /// what it reports as its size. All arguments outlive this.
  FollowingDevice(SimulatedDevice& device, const Trace& trace, const SimulatedDeviceOptions& asked,
                  Bytes total);

  /// Follows as far as `other` came, over a copy of its device with another capacity.
  FollowingDevice(SimulatedDevice& device, const FollowingDevice& other,
                  std::optional<Bytes> capacity);

  /// To be kept at the event under way.
  std::uint64_t* event() { return &event_; }
  /// Before the first event: the recording is not followed at all.
  void follow_nothing();
  /// After the last event that was played; unset where the recording was not followed at all.
  std::optional<Followed> followed(std::uint64_t events) const;

  /// A copy of the device as it is, which follows nothing.
  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  Bytes total_bytes() const override;
  Bytes free_bytes() const override;

  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void release(Address at) override;

 private:
  /// What the recorded driver was asked for and granted.
  struct Call {
    Op op = Op::segment_alloc;
    Address address = 0;
    Bytes size = 0;
    std::uint64_t event = 0;
    std::uint64_t from = 0;  ///< right after the request before it
    std::uint64_t to = 0;    ///< the request that asked for it, or what the program did before
  };

  /// The next call, if it is one of the event under way; null.
  const Call* due();
  void note_returned(Op op, Address at, std::optional<Bytes> size = {});
  /// Whether the call that takes memory is refused. `recorded`: it is the next one.
  bool refuses(bool recorded, Bytes size);
  bool is_unreserved(Address at, Bytes size) const;
  void leave();
  /// The device goes on by itself, where nothing lies that was given while it followed.
  void let_go_on(SimulatedDevice& device) const;
  void note_given(Address at, Bytes size) { top_ = std::max(top_, at + size); }

  SimulatedDevice& device_;
  const Trace& trace_;
  SimulatedDeviceOptions asked_;
  bool refuses_as_recorded_;
  Bytes total_;
  std::vector<Call> calls_;
  std::size_t next_ = 0;
  std::uint64_t event_ = 0;
  bool follows_ = true;
  std::optional<Followed> followed_ = Followed{};
  Address top_ = 0;                        ///< end of the highest range given so far
  std::map<Address, Bytes> reservations_;  ///< at recorded addresses
};

/// Makes calls on PyTorch's allocator in a replay that it watches, after what others do there.
class SettingsCaller final : public Watcher {
 public:
  /// `calls` by event; `allocator` outlives this.
  SettingsCaller(std::vector<SettingsCall> calls, Strategy& allocator);

  void on_event(const EventState& state, const Strategy&) override { call_before(state.event + 1); }

 private:
  void call_before(std::uint64_t event);

  std::vector<SettingsCall> calls_;
  torch::Allocator* allocator_;
  std::size_t made_ = 0;
};

/// A contender over a device of its own.
class Trial {
 public:
  /// Throws UsageError where the strategy cannot be made.
  Trial(const Contender& contender, const ReplayOptions& options);
  /// As `other` stands, where that may be: see may_branch. On a device of another capacity, which
  /// is to have answered every call so far alike.
  Trial(const Trial& other, std::optional<Bytes> capacity);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// To be called once; `watcher`, unless null, hears of it instead of the one of the options.
  /// Throws DeviceError where a driver fails, and AuditError.
  ReplayResult run(Watcher* watcher = nullptr);
  /// Likewise, from an event on; `branch` hears now and then where it stands, if it may branch.
  ReplayResult run_from(const Midway* midway, const std::function<void(Midway)>& branch);

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
  DeviceModel& open();
  DeviceModel& open_simulated();
  ReplayResult play(Watcher* watcher, Attached attached);
  /// All that its strategy does follows from the program and from what the device answered: nobody
  /// else listens, comes or goes, and it is PyTorch's allocator, which looks at nothing else.
  bool may_branch() const;
  /// Whoever listens hears of all calls from then on.
  void tell(Watcher& watcher);
  void note_reality(RunMetrics& metrics);
  void note_tenants(RunMetrics& metrics) const;

  Contender contender_;
  const ReplayOptions options_;
  std::optional<OpTimes> times_;
  RecordedSettings settings_;  ///< the recording's; also what its own device tells
  std::optional<Bytes> room_;  ///< unset: endless
  std::optional<SimulatedDevice> simulated_;
  std::optional<FollowingDevice> following_;
  std::optional<TimedMemory> timed_memory_;
  std::optional<RealDevice> real_;
  std::optional<BlockWork> work_;
  std::optional<TimedDevice> timed_device_;
  std::optional<CostMeter> meter_;  ///< where the cost is not the same for every size
  DeviceLog log_;
  std::optional<Ledger> ledger_;
  std::optional<HeardDevice> heard_;  ///< where somebody listens
  DeviceModel* device_;  ///< the outermost, but for the watch: that one sees the strategy alone
  std::optional<CapacityWatch> watched_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<SettingsCaller> settings_callers_;  ///< by allocator whose settings change
};

/// A replay that is over, with the strategy and the device as it left them.
struct Replayed {
  ReplayResult result;
  std::unique_ptr<const Trial> trial;
};

/// Replays a contender on a device of its own; the watcher hears when the run begins and ends.
/// Throws as Trial does.
Replayed replay(const Contender& contender, ReplayOptions options);

/// A contender on simulated devices of several capacities, whose dependence on the capacity is
/// watched. A replay begins at the last state that it shares with those before: up to there every
/// call was answered as it would have been. Some two dozen states are kept, of two million slots
/// together at most.
class Branches {
 public:
  Branches(const Contender& contender, ReplayOptions options)
      : contender_(contender), options_(std::move(options)) {
    options_.watch_capacity = true;
  }

  /// What `replay` gives on such a device; unset: it is endless. Throws as that does.
  Replayed replay_on(std::optional<Bytes> capacity);

 private:
  struct Branch {
    Midway midway;
    std::unique_ptr<const Trial> trial;
  };
  bool leads_to(const Branch& branch, std::optional<Bytes> capacity) const;

  Contender contender_;
  ReplayOptions options_;
  std::deque<Branch> branches_;  ///< the last replay's, by event
};

}  // namespace memreplay
