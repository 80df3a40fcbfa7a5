#include "questions/explain/moment.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/units.hpp"
#include "program/judge.hpp"
#include "replay/watch/outputs.hpp"
#include "trace/recorded_levels.hpp"
#include "verify/reading.hpp"

namespace memreplay {
namespace {

/// Notes the curves of a replay.
class MomentWatch final : public Watcher {
 public:
  explicit MomentWatch(const Trace& trace) : trace_(trace) {}

  void on_start(const EventState& state, const Strategy&) override {
    curves.peaks = {};
    curves.peaks.note({}, state.requested, state.reserved);
  }

  void on_event(const EventState& state, const Strategy&) override {
    curves.requested.push_back(state.requested);
    curves.reserved.push_back(state.reserved);
    curves.peaks.note(state.event, state.requested, state.reserved);
    if (state.ooms > ooms_) note_oom(state);
    ooms_ = state.ooms;
  }

  Curves curves;

 private:
  // What the start lacked counts with the first event. A block that left the device may find no
  // room when it is to come back, which is at its free.
  void note_oom(const EventState& state) {
    const bool refused = is_request(trace_.ops[state.event]) && !state.placement;
    if (refused || curves.requested.size() > 1) {
      curves.ooms.push_back(state.event);
    } else {
      curves.start_refused = true;
    }
  }

  const Trace& trace_;
  std::uint64_t ooms_ = 0;
};

Bytes allocated_bytes(const MemoryState& memory) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : memory.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::allocated) sum += block.size;
    }
  }
  return sum;
}

/// Notes what live blocks take right after some events of a replay.
class AllocatedLog final : public Watcher {
 public:
  explicit AllocatedLog(const std::vector<std::uint64_t>& events) : events_(events) {}

  void on_event(const EventState& state, const Strategy& strategy) override {
    while (bytes.size() < events_.size() && events_[bytes.size()] <= state.event) {
      bytes.push_back(allocated_bytes(strategy.memory_state()));
    }
  }

  std::vector<Bytes> bytes;

 private:
  const std::vector<std::uint64_t>& events_;
};

/// The recorded memory, with blocks as large as verification found them.
class SizedState {
 public:
  explicit SizedState(const Subject& subject)
      : trace_(subject.trace()),
        verified_(*subject.verified()),
        model_(*subject.model_of(parse_strategy("recorded"))),
        state_(trace_),
        size_(verified_.reading.block_sizes.begin()) {}

  void play_to(std::uint64_t event) {
    const bool exact = verified_.verdict == Verdict::exact;
    const Bytes padding = verified_.reading.request_padding;
    for (; next_ < event; ++next_) {
      state_.play(next_);
      if (trace_.ops[next_] != Op::allocate || !exact) continue;
      const bool noted = size_ != verified_.reading.block_sizes.end() && size_->event == next_;
      state_.note_size(
          trace_.slots[next_],
          noted ? (size_++)->size : torch::round_size(trace_.sizes[next_] + padding, {}));
    }
  }
  MemoryState layout(std::uint64_t& unplaced) const {
    return state_.layout(model_.settings, unplaced);
  }
  const TorchModel& model() const { return model_; }

 private:
  const Trace& trace_;
  const VerifyResult& verified_;
  TorchModel model_;
  RecordedState state_;
  std::vector<BlockSize>::const_iterator size_;
  std::uint64_t next_ = 0;
};

std::unordered_map<Address, Slot> slots_of(const std::vector<LiveBlock>& live,
                                           const std::vector<Placement>& by_slot) {
  std::unordered_map<Address, Slot> slots;
  for (const LiveBlock& block : live) {
    const Placement& placed = by_slot[block.slot];
    if (placed.handle != kNoHandle) slots[placed.address] = block.slot;
  }
  return slots;
}

// A device with room for the request refused it: a limit of the program's was reached. A share of
// the device is known where the device is, that is where nobody else holds any of it.
void note_limit(const Trace& trace, std::uint64_t event, const TorchModel& model, Moment& moment) {
  const Bytes needed = device_bytes_for(trace.sizes[event], model, 1);
  if (moment.device_free < needed) return;
  const Bytes reserved = reserved_bytes(moment.memory);
  const double share = model.settings.per_process_memory_fraction;
  const Bytes limit = bytes_of(share * static_cast<double>(reserved + moment.device_free));
  moment.limited = share < 1 && limit >= reserved && limit < reserved + needed;
  moment.allowed = moment.limited ? limit - reserved : 0;
}

}  // namespace

bool shows_segments(const Subject& subject) {
  const Trace& trace = subject.trace();
  // A state alone is as it was recorded, whoever made it.
  return subject.origin() == nullptr && (is_torch(subject.recording()) || trace.size() == 0) &&
         (!trace.start.segments.empty() || std::ranges::any_of(trace.ops, is_driver_event));
}

Curves RecordedMoments::curves() const {
  const Trace& trace = subject_.trace();
  Curves curves;
  RecordedLevels levels(trace);
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    levels.play(i);
    if (trace.ops[i] == Op::oom) curves.ooms.push_back(i);
    curves.requested.push_back(levels.requested());
    curves.reserved.push_back(levels.reserved());
  }
  curves.peaks = levels.peaks();
  curves.retries = subject_.verified()->reading.retries;
  return curves;
}

Moment RecordedMoments::before(std::uint64_t event) const {
  const Trace& trace = subject_.trace();
  SizedState state(subject_);
  state.play_to(event);
  Moment moment;
  moment.memory = state.layout(moment.unplaced);
  moment.live = live_before(trace, event);
  if (event < trace.size() && trace.ops[event] == Op::oom) {
    moment.device_free = trace.addresses[event];
    note_limit(trace, event, state.model(), moment);
  }
  return moment;
}

std::vector<Bytes> RecordedMoments::allocated_after(
    const std::vector<std::uint64_t>& events) const {
  SizedState state(subject_);
  std::vector<Bytes> bytes;
  for (const std::uint64_t event : events) {
    state.play_to(event + 1);
    std::uint64_t unplaced = 0;
    bytes.push_back(allocated_bytes(state.layout(unplaced)));
  }
  return bytes;
}

Curves ReplayedMoments::curves() const {
  MomentWatch watcher(contender_.subject().trace());
  ReplayOptions replaying = replaying_;
  replaying.watcher = &watcher;
  const ReplayResult result = replay(contender_, replaying).result;
  watcher.curves.retries = result.metrics.oom_retries;
  if (result.metrics.first_oom && watcher.curves.ooms.empty()) watcher.curves.start_refused = true;
  return std::move(watcher.curves);
}

std::vector<Bytes> ReplayedMoments::allocated_after(
    const std::vector<std::uint64_t>& events) const {
  AllocatedLog log(events);
  ReplayOptions replaying = replaying_;
  replaying.watcher = &log;
  replay(contender_, replaying);
  log.bytes.resize(events.size(), 0);
  return std::move(log.bytes);
}

Moment ReplayedMoments::replayed_to(std::uint64_t to, std::uint64_t event) const {
  ReplayOptions replaying = replaying_;
  replaying.program.to = to;
  const auto [result, trial] = replay(contender_, replaying);
  const Trace& trace = contender_.subject().trace();
  Moment moment;
  moment.memory = trial->strategy().memory_state();
  // A block that was to come back is what was asked for, and live no longer.
  const bool comes_back = to > event && !is_request(trace.ops[event]);
  moment.live = live_before(trace, comes_back ? to : event);
  moment.device_free = trial->device_free();
  moment.allowed = trial->strategy().free_space().obtainable;
  if (to > event) {
    const Bytes needed =
        device_bytes_for(trace.sizes[event], contender_.model(), replaying_.device.granularity);
    moment.limited = moment.allowed < needed;
    // The device had as much and no limit is known, so it was a rule of the strategy's.
    if (moment.device_free >= needed && !moment.limited) moment.allowed = 0;
  }
  const auto slots = slots_of(moment.live, result.blocks);
  for (SegmentInfo& segment : moment.memory.segments) {
    for (BlockInfo& block : segment.blocks) {
      const auto found = slots.find(block.address);
      if (block.state != BlockState::free && found != slots.end()) block.slot = found->second;
    }
  }
  return moment;
}

}  // namespace memreplay
