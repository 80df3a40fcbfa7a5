#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/program.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"
#include "metrics/run_metrics.hpp"
#include "replay/replay.hpp"
#include "strategy/play.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// What a replay came to so far: its peaks, its OOMs, and the usage of strategy and device since
/// what is measured began.
class Accounts {
 public:
  /// Before the first call of the strategy. `device_seconds` as in Attached. All outlive this.
  Accounts(Strategy& strategy, DeviceModel& device, const Measuring& measuring,
           const double* device_seconds)
      : strategy_(strategy),
        device_(device),
        measuring_(measuring),
        device_seconds_(device_seconds) {}

  /// Counts from here on; what came before only led up to it. True where memory is reserved.
  bool begin_measuring();

  void count_event(Op op) { tally_.events += !is_driver_event(op); }
  void count_request() { ++tally_.requests; }
  void add_block(Bytes requested, Bytes allocated) { tally_.add_block(requested, allocated); }
  void remove_block(Bytes requested, Bytes allocated) { tally_.remove_block(requested, allocated); }
  /// The block counts on as requested.
  void move_out(Bytes allocated);
  /// After a request that was served.
  void note_allocated() { tally_.note_allocated(); }
  /// A request that the recorded program was refused is served here, and freed at once.
  void note_served_after_all(Bytes requested);
  void note_oom(std::uint64_t event, const Request& request, OomPlace::RefusedBy told);

  /// After a request: only then a strategy holds more. True where the reserved peak grew.
  bool look_at_device() {
    if (!tally_.holds_more(usage_)) {
      if (tally_.is_fuller(usage_)) tally_.note_fuller(strategy_.free_space());
      return false;
    }
    const Bytes within = usage_.peak_held > tally_.highest_held ? usage_.peak_held : 0;
    tally_.highest_held = usage_.peak_held;
    return note_reserved(std::max(usage_.held, within));
  }
  /// For a strategy that plays a stretch by itself.
  Tally& tally() { return tally_; }

  RunSoFar so_far() const;
  EventState state_after(std::uint64_t event, const std::optional<Placement>& concerned) const;
  /// All of it, after the last event; `seconds` is how long the replay took.
  RunMetrics finish(double seconds, bool testimony) const;
  const Sums& sums() const { return sums_; }
  /// Goes on from what another strategy in the same state came to.
  void go_on_from(const Sums& sums) { sums_ = sums; }

 private:
  bool note_reserved(Bytes reserved);
  DeviceUsage calls_since_measuring() const;

  Strategy& strategy_;
  DeviceModel& device_;
  const Measuring& measuring_;
  const double* device_seconds_;
  const DeviceUsage& usage_ = device_.usage();
  Sums sums_{.built = device_.usage()};
  Tally& tally_ = sums_.tally;
  RunMetrics& metrics_ = sums_.metrics;
};

/// Makes the calls of a program on a strategy, keeps where its blocks lie, and tells the watcher
/// and the accounts.
class Caller {
 public:
  /// `watcher` and `times` may be null. All arguments outlive this.
  Caller(const Program& program, Strategy& strategy, Accounts& accounts, Watcher* watcher,
         OpTimes* times);

  /// By slot; no handle: not placed; size 0: it was moved out.
  std::span<Placement> blocks() { return blocks_; }
  /// After the last call.
  std::vector<Placement> take_blocks() { return std::move(blocks_); }
  /// Where blocks do not move.
  const std::vector<Placement>& parked() const { return parked_; }
  void go_on_from(const Midway& midway) {
    blocks_ = midway.blocks;
    parked_ = midway.parked;
  }
  bool holds(Slot slot) const { return blocks_[slot].handle != kNoHandle; }
  const Placement& block(Slot slot) const { return blocks_[slot]; }

  void prefetch(std::uint64_t event) const;

  /// False where the strategy has no room.
  bool place(std::uint64_t event, Slot slot, const Request& request);
  /// A block from before the first event, which lies in `blocks` already.
  void note_there(const Program::Block& block);
  /// Serves the request and frees its block at once.
  std::optional<Placement> place_for_an_instant(const Request& request);
  void request_free(std::uint64_t event, Slot slot, Bytes requested);
  /// Frees the block in the slot, by an event that is a free or completes one.
  void free(std::uint64_t event, Slot slot);
  void empty_cache();
  /// What the program does before `event`.
  void act(std::uint64_t event, const InferredCall& act);

  bool moves_blocks() const { return moved_out_ != nullptr || moved_ != nullptr; }
  /// After a free, where blocks move: one of them needs room again before it is freed. False where
  /// it found none.
  bool take_back();

 private:
  // What a strategy does for one request or free, timed where that is asked for.
  template <typename Call>
  auto timed(const Call& call) {
    if (times_ == nullptr) return call();
    const OpTimer timer(*times_);
    return call();
  }
  void complete_late(std::uint64_t event, const Placement& block);
  void release(PoolIndex pool, PoolCache cache);
  /// A synchronisation completes what was still pending; a watcher cannot know by itself.
  void tell_of_waits(StreamIndex stream) {
    if (watcher_) tell_watcher_of_waits(stream);
  }
  void tell_watcher_of_waits(StreamIndex stream);
  /// Blocks that left the device: no longer charged there, their place may be given to others.
  void note_moved_out();
  void note_moved();
  void note_slot(Slot slot) {
    const Handle handle = blocks_[slot].handle;
    slot_of_.resize(std::max<std::size_t>(slot_of_.size(), handle + 1));
    slot_of_[handle] = slot;
  }

  const Program& program_;
  Strategy& strategy_;
  Accounts& accounts_;
  Watcher* watcher_;
  OpTimes* times_;
  const Abilities abilities_;
  const std::vector<Handle>* moved_out_;
  const std::vector<Placement>* moved_;
  std::vector<Slot> slot_of_;           ///< by handle; only of strategies that move blocks
  std::vector<Placement> blocks_;       ///< see blocks()
  std::vector<Placement> parked_;       ///< by number; no handle: nothing to complete
  std::uint64_t unserved_returns_ = 0;  ///< seen so far
  std::uint64_t syncs_ = 0;             ///< syncs of the strategy that the watcher was told of
  std::uint64_t stream_waits_ = 0;      ///< likewise, its stream waits
};

inline void Caller::prefetch(std::uint64_t event) const {
  hint_at_next_free(program_, event, blocks_.data(), abilities_.prefetch);
}

inline bool Caller::place(std::uint64_t event, Slot slot, const Request& request) {
  const auto placement = timed([&] { return strategy_.allocate(request); });
  tell_of_waits(request.stream);
  if (moved_out_) note_moved_out();
  if (moved_) note_moved();
  if (!placement) return false;
  if (watcher_) watcher_->placed(event, request, *placement);
  blocks_[slot] = *placement;
  if (moves_blocks()) note_slot(slot);
  accounts_.add_block(request.size, placement->size);
  return true;
}

inline void Caller::free(std::uint64_t event, Slot slot) {
  const Placement block = blocks_[slot];
  if (watcher_ && block.size != 0) watcher_->freed(event, block);
  blocks_[slot].handle = kNoHandle;
  if (program_.ops[event] == Op::free_completed) {
    timed([&] { strategy_.complete_free(block.handle); });
  } else {
    accounts_.remove_block(program_.sizes[event], block.size);
    timed([&] { strategy_.free(block.handle, program_.giver(event)); });
  }
}

/// How a strategy came to the first event of a program.
struct Begun {
  bool exact = true;                 ///< nothing was there, or it was taken over as recorded
  std::uint64_t refused_before = 0;  ///< requests on another way to the first event
  std::vector<Request> unserved;     ///< requests of blocks that should be there and found no room
};

/// Brings a strategy that was never asked before to the first event, in one of three ways: that of
/// `options.begin_with`, by taking over what was recorded (`adopt_start`), or by allocating its
/// blocks anew.
Begun begin(const Program& program, Strategy& strategy, DeviceModel& device, Caller& caller,
            const ReplayOptions& options, bool adopt_start);

/// Hands an empty strategy over an empty device what was held elsewhere, and fills in, by slot,
/// where its blocks lie. False: the strategy cannot take over a state; the device then holds it.
bool take_over(const MemoryState& state, Strategy& strategy, DeviceModel& device,
               std::span<Placement> by_slot);

}  // namespace memreplay
