#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "device/watch/heard_device.hpp"
#include "device/watch/watcher.hpp"
#include "replay/replay.hpp"
#include "replay/trial.hpp"
#include "trace/trace_builder.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Writes down a replay as PyTorch's allocator would have recorded it: requests and frees at the
/// places that they got, what was asked of the device, refusals, and the state at start and end.
/// O(log segments) an event; a synchronisation with
/// frees under way costs the strategy's whole state.
class ReplayRecorder final : public Watcher {
 public:
  /// `cold`: what existed before the recording does not in this replay. Both the contender and the
  /// trial that it hears of outlive this.
  ReplayRecorder(const Contender& contender, bool cold);

  bool needs_device_log() const override { return true; }
  void on_run(const Subject&, const Trial& trial, WatcherGroup& /*also*/) override {
    trial_ = &trial;
  }
  void on_start(const EventState& begin, const Strategy& strategy) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

  void placed(std::uint64_t event, const Request& request, const Placement& placement) override;
  void free_requested(std::uint64_t event, const Placement& placement) override;
  void freed(std::uint64_t event, const Placement& placement) override;
  void moved_out(const Placement& placement) override;
  void moved(const Placement& from, const Placement& to) override;
  void synchronised() override { synchronised_ = true; }

  /// After the replay, once.
  Trace finish();

 private:
  struct Live {
    Address address = 0;
    Bytes requested = 0;
    std::uint32_t stack = 0;
    Slot slot = kNoSlot;
    std::uint16_t lane = 0;
    std::uint64_t pending = 0;  ///< key in pending_; 0: its free was not requested
    bool completed = false;     ///< written down already, by a synchronisation
  };
  struct StartBlock {
    const SegmentInfo* segment;
    const BlockInfo* block;
  };
  struct HeldRange {
    Bytes size = 0;
    std::uint16_t lane = 0;
  };

  const std::vector<DeviceEvent>& calls() const { return trial_->log().events(); }
  Bytes charged(Bytes size) const;
  void fill_regions(std::vector<SegmentInfo>& segments) const;
  std::uint16_t lane(StreamIndex stream, PoolIndex pool);
  std::uint16_t lane_of_event() { return lane_of_source(source_.lane(event_)); }
  std::uint16_t lane_of_source(StreamPool source) { return lane(source.stream, source.pool); }
  std::uint64_t handle_of(StreamIndex stream) const;
  std::uint32_t stack_of_event() const;
  void place_start_block(const Request& request, const Placement& placement);
  void catch_up(const Placement* fresh);
  void complete_synchronised(const Placement* fresh);
  void add_device_events(std::size_t to);
  void add_device_event(const DeviceEvent& event);
  void add(Op op, std::uint16_t lane, Slot slot, Bytes size, Address address);
  void add_oom(Bytes size, std::uint16_t lane);
  void add_served_after_all(const Placement& placement);
  void add_marker();
  void request_free(Handle handle, Live& block);
  void complete(Live& block);
  MemoryState state();

  const Trace& source_;
  const std::optional<TorchModel>& model_;
  const Trial* trial_ = nullptr;
  TraceBuilder builder_;
  std::size_t event_ = 0;  ///< the source's event under way
  bool started_ = false;
  bool synchronised_ = false;        ///< since this last caught up
  std::size_t device_events_ = 0;    ///< how many of `calls` are written
  std::vector<StartBlock> to_come_;  ///< blocks of the source's start not placed yet, last first
  std::vector<StartBlock> unserved_;
  std::unordered_map<Handle, Live> live_;
  std::map<std::uint64_t, Handle> pending_;  ///< in the order of the requests to free
  std::uint64_t last_pending_ = 0;
  std::map<Address, HeldRange> held_;                ///< from the device
  bool annotates_;                                   ///< the source has markers at addresses
  std::unordered_map<Address, Handle> recorded_at_;  ///< where it does: by recorded address
};

/// One device of a recording, replayed.
struct RecordedReplay {
  Trace trace;
  ReplayResult result;
};

/// Replays the contender and records it. Throws as Trial does.
RecordedReplay record_replay(const Contender& contender, ReplayOptions replaying);

/// The PyTorch snapshot of these replays, all of the contender's recording: stacks,
/// texts and annotations are kept, the settings are those of the replay where it was under
/// PyTorch's allocator.
Recording snapshot_of(const Contender& contender, std::vector<Trace> replays);

}  // namespace memreplay
