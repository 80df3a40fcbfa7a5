#include "questions/convert/replay_recorder.hpp"

#include <algorithm>
#include <utility>

#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

/// As the environment variable has it.
std::string conf_of(const StrategySpec& spec) {
  if (const auto whole = find_option(spec, torch::kConfOption)) return std::string(*whole);
  std::string conf;
  for (const auto& [key, value] : spec.options) {
    if (key == "version") continue;
    conf += (conf.empty() ? "" : ",") + key + ":" + value;
  }
  return conf;
}

RecordedSettings settings_of_run(const Contender& contender) {
  const std::optional<TorchModel>& model = contender.model();
  const StrategySpec& spec = contender.spec();
  if (!model) return {};
  if (spec.name == "recorded") {
    RecordedSettings settings = *contender.subject().settings();
    if (!spec.release.empty()) settings.oldest_release = model->release.text();
    return settings;
  }
  const torch::Settings& run = model->settings;
  return {.present = true,
          .conf = conf_of(spec),
          .conf_variable = "PYTORCH_CUDA_ALLOC_CONF",
          .max_split_size = run.max_split_size == torch::kUnlimited
                                ? -1
                                : static_cast<std::int64_t>(run.max_split_size),
          .garbage_collection_threshold = run.garbage_collection_threshold,
          .expandable_segments = run.expandable_segments,
          .roundup_power2_divisions = run.roundup_power2_divisions,
          .request_padding = run.request_padding,
          .oldest_release = model->release.text()};
}

bool has_annotations(const Trace& trace) {
  if (trace.addresses.empty()) return false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] == Op::marker && trace.addresses[i] != 0) return true;
  }
  return false;
}

}  // namespace

ReplayRecorder::ReplayRecorder(const Contender& contender, bool cold)
    : source_(contender.subject().trace()),
      model_(contender.model()),
      builder_(source_.gpu),
      annotates_(has_annotations(source_)) {
  builder_.reserve_at_most(source_.size());
  if (cold) return;
  for (const SegmentInfo& segment : source_.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::free) to_come_.push_back({&segment, &block});
    }
  }
  std::ranges::reverse(to_come_);
}

// PyTorch states refusals so.
Bytes ReplayRecorder::charged(Bytes size) const {
  if (!model_) return size;
  const Bytes padding = model_->settings.request_padding;
  return torch::round_size(size + padding, model_->settings.roundup_power2_divisions) - padding;
}

void ReplayRecorder::on_start(const EventState& begin, const Strategy&) {
  if (begin.event > 0) return;
  started_ = true;
  synchronised_ = false;
  unserved_.insert(unserved_.end(), to_come_.rbegin(), to_come_.rend());
  device_events_ = calls().size();
  builder_.trace().start = state();
  for (const SegmentInfo& segment : trial_->strategy().memory_state().segments) {
    held_[segment.address] = {segment.size, lane(segment.stream, segment.pool)};
  }
  for (const StartBlock& refused : unserved_) {
    if (refused.block->requested == 0) continue;
    add_oom(refused.block->requested, lane(refused.segment->stream, refused.segment->pool));
  }
}

void ReplayRecorder::on_event(const EventState& state, const Strategy&) {
  const Op op = source_.ops[event_];
  const bool served = state.placement.has_value();
  if (op == Op::oom && served) add_served_after_all(*state.placement);
  catch_up(nullptr);
  if (is_request(op) && !served && source_.sizes[event_] > 0) {
    add_oom(source_.sizes[event_], lane_of_event());
  }
  if (op == Op::marker) add_marker();
  ++event_;
}

void ReplayRecorder::placed(std::uint64_t, const Request& request, const Placement& placement) {
  if (!started_) return place_start_block(request, placement);
  catch_up(&placement);
  const std::uint16_t lane = this->lane(request.stream, request.pool);
  const Slot slot = builder_.take_slot();
  add(Op::allocate, lane, slot, request.size, placement.address);
  live_[placement.handle] = {.address = placement.address,
                             .requested = request.size,
                             .stack = stack_of_event(),
                             .slot = slot,
                             .lane = lane};
  if (annotates_) recorded_at_[source_.addresses[event_]] = placement.handle;
}

// Start blocks that found no room are skipped.
void ReplayRecorder::place_start_block(const Request& request, const Placement& placement) {
  while (to_come_.back().block->requested != request.size) {
    unserved_.push_back(to_come_.back());
    to_come_.pop_back();
  }
  const auto [segment, block] = to_come_.back();
  to_come_.pop_back();
  live_[placement.handle] = {.address = placement.address,
                             .requested = request.size,
                             .stack = block->stack,
                             .slot = builder_.take_slot(),
                             .lane = lane(segment->stream, segment->pool)};
  if (annotates_) recorded_at_[block->address] = placement.handle;
}

void ReplayRecorder::free_requested(std::uint64_t, const Placement& placement) {
  if (started_) catch_up(nullptr);
  request_free(placement.handle, live_.at(placement.handle));
}

void ReplayRecorder::freed(std::uint64_t, const Placement& placement) {
  catch_up(nullptr);
  Live& block = live_.at(placement.handle);
  if (block.pending == 0) request_free(placement.handle, block);
  complete(block);
  live_.erase(placement.handle);
}

void ReplayRecorder::moved_out(const Placement& placement) {
  Live& block = live_.at(placement.handle);
  if (block.pending == 0) request_free(placement.handle, block);
  complete(block);
  live_.erase(placement.handle);
}

// A recording has no word for it: freed here, allocated there.
void ReplayRecorder::moved(const Placement& from, const Placement& to) {
  Live block = live_.at(from.handle);
  moved_out(from);
  block.slot = builder_.take_slot();
  block.address = to.address;
  add(Op::allocate, block.lane, block.slot, block.requested, block.address);
  live_[to.handle] = block;
}

Trace ReplayRecorder::finish() {
  builder_.trace().end = state();
  Trace& trace = builder_.trace();
  trace.coverage.starts_empty = trace.start.segments.empty();
  trace.coverage.complete = trace.coverage.starts_empty;
  return builder_.finish();
}

std::uint64_t ReplayRecorder::handle_of(StreamIndex stream) const {
  return stream < source_.streams.size() ? source_.streams[stream] : stream;
}

std::uint16_t ReplayRecorder::lane(StreamIndex stream, PoolIndex pool) {
  return builder_.lane(handle_of(stream),
                       pool < source_.pools.size() ? source_.pools[pool] : PoolId{});
}

std::uint32_t ReplayRecorder::stack_of_event() const {
  return source_.stacks.empty() ? 0 : source_.stacks[event_];
}

/// What the strategy did before what is written next: it may have placed `fresh` meanwhile.
void ReplayRecorder::catch_up(const Placement* fresh) {
  if (std::exchange(synchronised_, false)) complete_synchronised(fresh);
  add_device_events(calls().size());
}

// Completes the requested frees of blocks that the strategy no longer holds.
void ReplayRecorder::complete_synchronised(const Placement* fresh) {
  if (pending_.empty()) return;
  std::vector<Address> held;
  for (const SegmentInfo& segment : trial_->strategy().memory_state().segments) {
    for (const BlockInfo& block : segment.blocks) {
      const bool is_fresh = fresh != nullptr && block.address == fresh->address;
      if (block.state != BlockState::free && !is_fresh) held.push_back(block.address);
    }
  }
  std::ranges::sort(held);
  for (auto at = pending_.begin(); at != pending_.end();) {
    Live& block = live_.at((at++)->second);
    if (!std::ranges::binary_search(held, block.address)) complete(block);
  }
}

void ReplayRecorder::add_device_events(std::size_t to) {
  for (; device_events_ < to; ++device_events_) add_device_event(calls()[device_events_]);
}

void ReplayRecorder::add_device_event(const DeviceEvent& event) {
  std::uint16_t lane = lane_of_event();
  if (obtains_memory(event.op)) {
    // What was there before was given back piece by piece.
    held_.erase(held_.lower_bound(event.address), held_.lower_bound(event.address + event.bytes));
    held_[event.address] = {event.bytes, lane};
  } else if (auto behind = held_.upper_bound(event.address); behind != held_.begin()) {
    lane = std::prev(behind)->second.lane;
  }
  add(event.op, lane, kNoSlot, event.bytes, event.address);
}

void ReplayRecorder::add(Op op, std::uint16_t lane, Slot slot, Bytes size, Address address) {
  builder_.add(op, lane, slot, size);
  const bool at_event = event_ < source_.size();
  if (!source_.times_us.empty()) {
    builder_.fill<&Trace::times_us>(at_event ? source_.times_us[event_] : source_.times_us.back());
  }
  builder_.fill<&Trace::stacks>(at_event ? stack_of_event() : 0);
  builder_.fill<&Trace::tags>(source_.tags.empty() || !at_event ? 0 : source_.tags[event_]);
  builder_.fill<&Trace::addresses>(address);
}

void ReplayRecorder::add_oom(Bytes size, std::uint16_t lane) {
  add(Op::oom, lane, kNoSlot, charged(size), trial_->device_free());
}

// A request that the recorded program was refused is freed as soon as it is served.
void ReplayRecorder::add_served_after_all(const Placement& placement) {
  const auto& log = calls();
  std::size_t placed = log.size();
  while (placed > device_events_ && !obtains_memory(log[placed - 1].op)) --placed;
  if (std::exchange(synchronised_, false)) complete_synchronised(&placement);
  add_device_events(placed);
  const std::uint16_t lane = lane_of_event();
  const Slot slot = builder_.take_slot();
  for (const Op op : {Op::allocate, Op::free_requested, Op::free_completed}) {
    add(op, lane, slot, source_.sizes[event_], placement.address);
  }
  builder_.return_slot(slot);
}

void ReplayRecorder::add_marker() {
  const Address recorded = source_.addresses.empty() ? 0 : source_.addresses[event_];
  if (recorded == 0) return add(Op::marker, lane_of_event(), kNoSlot, 0, 0);
  const auto block = recorded_at_.find(recorded);
  if (block == recorded_at_.end()) return;
  const auto live = live_.find(block->second);
  // Its request was refused, or it is gone.
  if (live == live_.end()) return;
  add(Op::marker, lane_of_event(), kNoSlot, 0, live->second.address);
}

void ReplayRecorder::request_free(Handle handle, Live& block) {
  block.pending = ++last_pending_;
  pending_.emplace(block.pending, handle);
  if (started_) add(Op::free_requested, block.lane, block.slot, block.requested, block.address);
}

void ReplayRecorder::complete(Live& block) {
  if (std::exchange(block.completed, true)) return;
  pending_.erase(block.pending);
  add(Op::free_completed, block.lane, block.slot, block.requested, block.address);
  builder_.return_slot(block.slot);
}

// What the device gave beside what a strategy cuts into blocks (for its alignment) is free.
void ReplayRecorder::fill_regions(std::vector<SegmentInfo>& segments) const {
  Address reached = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    SegmentInfo& segment = segments[i];
    const Address cut = segment.address + segment.size;
    const Address next = i + 1 < segments.size() ? segments[i + 1].address : UINT64_MAX;
    auto region = held_.upper_bound(segment.address);
    const bool found = !segment.expandable && region != held_.begin();
    if (found) --region;
    const Address from = found ? region->first : segment.address;
    const Address to = found ? from + region->second.size : cut;
    if (from >= reached && to >= cut && to <= next) {  // the region is this segment's alone
      if (from != segment.address) {
        segment.blocks.insert(segment.blocks.begin(),
                              {.address = from, .size = segment.address - from});
      }
      if (to != cut) segment.blocks.push_back({.address = cut, .size = to - cut});
      segment.address = from;
      segment.size = to - from;
    }
    reached = std::max(cut, to);
  }
}

MemoryState ReplayRecorder::state() {
  std::unordered_map<Address, const Live*> by_address;
  for (const auto& [handle, block] : live_) {
    if (!block.completed) by_address[block.address] = &block;
  }
  MemoryState state = trial_->strategy().memory_state();
  for (SegmentInfo& segment : state.segments) {
    segment.stream = builder_.stream(handle_of(segment.stream));
    segment.pool =
        builder_.pool(segment.pool < source_.pools.size() ? source_.pools[segment.pool] : PoolId{});
    for (BlockInfo& block : segment.blocks) {
      const auto live = by_address.find(block.address);
      if (block.state == BlockState::free) block.requested = 0;
      if (block.state == BlockState::free || live == by_address.end()) continue;
      block.requested = live->second->requested;
      block.stack = live->second->stack;
      block.slot = live->second->slot;
      block.state = live->second->pending != 0 ? BlockState::pending : BlockState::allocated;
    }
  }
  fill_regions(state.segments);
  return state;
}

RecordedReplay record_replay(const Contender& contender, ReplayOptions replaying) {
  ReplayRecorder recorder(contender, replaying.program.start == StartMode::cold);
  replaying.watcher = &recorder;
  auto [result, trial] = replay(contender, replaying);
  return {recorder.finish(), std::move(result)};
}

Recording snapshot_of(const Contender& contender, std::vector<Trace> replays) {
  const Recording& source = contender.subject().recording();
  Recording recording;
  recording.path = source.path;
  recording.format = kTorchPickleFormat;
  recording.traces = std::move(replays);
  recording.settings = settings_of_run(contender);
  recording.annotations = source.annotations;
  recording.texts = source.texts;
  recording.frames = source.frames;
  recording.stacks = source.stacks;
  return recording;
}

}  // namespace memreplay
