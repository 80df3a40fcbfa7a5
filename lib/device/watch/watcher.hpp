#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

class Strategy;
class Subject;
class Trial;
class WatcherGroup;

/// A call to a device, as a watcher hears of it.
struct DeviceCall {
  enum class Kind : std::uint8_t {
    obtain,
    give_back,
    adopt,         ///< a region
    adopt_mapped,  ///< a mapped run
    map,
    unmap,
    alias,
    unalias,
    allocate,  ///< by the driver's own allocator
    free,      ///< likewise
  };
  Kind kind = Kind::obtain;
  Address address = 0;
  Bytes bytes = 0;    ///< as asked for, also of what is returned
  Bytes granule = 0;  ///< size of the pieces mapped or unmapped; 0: not known
  Address of = 0;     ///< where the memory of an alias lies
  Bytes charged = 0;  ///< what the driver made of the bytes of `allocate`
};

/// The memory right after an event.
struct EventState {
  std::uint64_t event = 0;
  /// The block allocated or just freed; also that of a request that the recorded program was
  /// refused and that is served here (and freed at once).
  std::optional<Placement> placement;
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes reserved = 0;
  Bytes peak_reserved = 0;  ///< so far, of what is measured; also from within an event
  std::uint64_t ooms = 0;   ///< so far, of what is measured
};

/// Hears of a replay; every hook is empty by default. Placements are as the strategy gave them.
class Watcher {
 public:
  virtual ~Watcher() = default;

  /// Whether the trial has to write down what is asked of its device. Asked before `on_run`.
  virtual bool needs_device_log() const { return false; }
  /// Whether somebody will look at where blocks lie. Asked before `on_run`.
  virtual bool shows_places() const { return false; }
  /// Right before a run. Watchers that are added hear of it too, and live until `on_run_end`; a
  /// group does not add to itself.
  virtual void on_run(const Subject&, const Trial&, WatcherGroup& /*also*/) {}
  virtual void on_run_end(const Trial&) {}

  /// Before all else: a block from before the trace has its place.
  virtual void on_start_block(Slot, const Placement&) {}
  /// What is measured begins before `state.event`; again where an earlier beginning led up to it.
  /// What existed before the recording is there.
  virtual void on_start(const EventState& /*state*/, const Strategy&) {}
  /// Before an event: no stream uses the block any more, which the trace has at an earlier one.
  virtual void on_late_completion(std::uint64_t /*event*/, const Placement&) {}
  /// After every event of the trace, in order.
  virtual void on_event(const EventState& /*state*/, const Strategy&) {}

  /// After the strategy has placed a block, also one of the start state.
  virtual void placed(std::uint64_t /*event*/, const Request&, const Placement&) {}
  /// When the owner is done with the block; `freed` follows when its streams are done too.
  virtual void free_requested(std::uint64_t /*event*/, const Placement&) {}
  /// When no stream uses the block any more, before the strategy is told.
  virtual void freed(std::uint64_t /*event*/, const Placement&) {}
  /// A live block has left the device during this event: its memory is the strategy's again, and
  /// nothing more is heard of it.
  virtual void moved_out(const Placement&) {}
  /// A live block lies elsewhere on the device from now on.
  virtual void moved(const Placement& /*from*/, const Placement& /*to*/) {}
  /// After a call in which the strategy waited for all streams, before `placed` of that call: the
  /// memory of blocks whose free was requested is the strategy's again.
  virtual void synchronised() {}
  /// After a call in which the strategy let `stream` wait for others that many times.
  virtual void stream_waited(StreamIndex /*stream*/, std::uint64_t /*times*/) {}

  /// From a HeardDevice that was told of the watcher: after a call that takes memory was granted;
  /// before a call that returns some, so that one that must not be made can be stopped by an
  /// exception. Refused calls are not heard of.
  virtual void on_device_call(const DeviceCall&) {}
};

/// Calls several watchers in turn.
class WatcherGroup final : public Watcher {
 public:
  void add(Watcher& watcher) { watchers_.push_back(&watcher); }
  bool empty() const { return watchers_.empty(); }

  bool needs_device_log() const override {
    return std::ranges::any_of(watchers_, &Watcher::needs_device_log);
  }
  bool shows_places() const override {
    return std::ranges::any_of(watchers_, &Watcher::shows_places);
  }
  void on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) override {
    each([&](Watcher& w) { w.on_run(subject, trial, also); });
  }
  void on_run_end(const Trial& trial) override {
    each([&](Watcher& w) { w.on_run_end(trial); });
  }
  void on_start_block(Slot slot, const Placement& block) override {
    each([&](Watcher& w) { w.on_start_block(slot, block); });
  }
  void on_start(const EventState& state, const Strategy& strategy) override {
    each([&](Watcher& w) { w.on_start(state, strategy); });
  }
  void on_late_completion(std::uint64_t event, const Placement& block) override {
    each([&](Watcher& w) { w.on_late_completion(event, block); });
  }
  void on_event(const EventState& state, const Strategy& strategy) override {
    each([&](Watcher& w) { w.on_event(state, strategy); });
  }
  void placed(std::uint64_t event, const Request& request, const Placement& block) override {
    each([&](Watcher& w) { w.placed(event, request, block); });
  }
  void free_requested(std::uint64_t event, const Placement& block) override {
    each([&](Watcher& w) { w.free_requested(event, block); });
  }
  void freed(std::uint64_t event, const Placement& block) override {
    each([&](Watcher& w) { w.freed(event, block); });
  }
  void moved_out(const Placement& block) override {
    each([&](Watcher& w) { w.moved_out(block); });
  }
  void moved(const Placement& from, const Placement& to) override {
    each([&](Watcher& w) { w.moved(from, to); });
  }
  void synchronised() override {
    each([&](Watcher& w) { w.synchronised(); });
  }
  void stream_waited(StreamIndex stream, std::uint64_t times) override {
    each([&](Watcher& w) { w.stream_waited(stream, times); });
  }
  void on_device_call(const DeviceCall& call) override {
    each([&](Watcher& w) { w.on_device_call(call); });
  }

 private:
  template <typename Call>
  void each(const Call& call) {
    for (Watcher* watcher : watchers_) call(*watcher);
  }

  std::vector<Watcher*> watchers_;
};

}  // namespace memreplay
