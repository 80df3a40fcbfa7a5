#include "replay/caller.hpp"

#include <limits>

#include "trace/pages.hpp"

namespace memreplay {
namespace {

double ratio_above(Bytes whole, Bytes part) {
  return whole == 0 ? 0 : 1 - static_cast<double>(part) / static_cast<double>(whole);
}

Begun begin_elsewhere(const Program& program, Strategy& strategy, DeviceModel& device,
                      Caller& caller, const Beginning& begin_with) {
  Begun begun{.exact = false};
  begun.refused_before = begin_with(strategy, device, caller.blocks());
  for (const Program::Block& block : program.blocks) {
    if (block.request.size == 0) continue;
    if (caller.holds(block.slot)) {
      caller.note_there(block);
    } else {
      begun.unserved.push_back(block.request);
    }
  }
  return begun;
}

Begun allocate_blocks(const Program& program, Caller& caller, Watcher* watcher) {
  Begun begun{.exact = false};
  for (const Program::Block& block : program.blocks) {
    if (block.request.size == 0) continue;
    if (!caller.place(0, block.slot, block.request)) {
      begun.unserved.push_back(block.request);
      continue;
    }
    if (block.pending) caller.request_free(0, block.slot, block.request.size);
    if (watcher) watcher->on_start_block(block.slot, caller.block(block.slot));
  }
  return begun;
}

}  // namespace

Caller::Caller(const Program& program, Strategy& strategy, Accounts& accounts, Watcher* watcher,
               OpTimes* times)
    : program_(program),
      strategy_(strategy),
      accounts_(accounts),
      watcher_(watcher),
      times_(times),
      abilities_(strategy.abilities()),
      moved_out_(strategy.usage().moved_out),
      moved_(strategy.usage().moved),
      parked_(program.parkings) {
  reserve_at_most(blocks_, program.slot_count);  // are looked at in no order
  blocks_.resize(program.slot_count);
}

void Caller::note_there(const Program::Block& block) {
  const Placement& placement = blocks_[block.slot];
  if (moves_blocks()) note_slot(block.slot);
  if (watcher_) watcher_->placed(0, block.request, placement);
  if (watcher_) watcher_->on_start_block(block.slot, placement);
  if (!block.pending) return accounts_.add_block(block.request.size, placement.size);
  if (watcher_) watcher_->free_requested(0, placement);
}

std::optional<Placement> Caller::place_for_an_instant(const Request& request) {
  const auto placement = timed([&] { return strategy_.allocate(request); });
  tell_of_waits(request.stream);
  if (moved_out_) note_moved_out();
  if (moved_) note_moved();
  if (placement) timed([&] { strategy_.free(placement->handle, {}); });
  return placement;
}

void Caller::request_free(std::uint64_t event, Slot slot, Bytes requested) {
  const Placement& block = blocks_[slot];
  if (watcher_ && block.size != 0) watcher_->free_requested(event, block);
  strategy_.request_free(block.handle);
  accounts_.remove_block(requested, block.size);
}

void Caller::empty_cache() {
  strategy_.empty_cache();
  tell_of_waits(0);
}

void Caller::act(std::uint64_t event, const InferredCall& act) {
  switch (act.kind) {
    case InferredCall::Kind::complete:
      return complete_late(event, parked_[act.parked]);
    case InferredCall::Kind::empty_cache:
      return empty_cache();
    case InferredCall::Kind::end_pool:
      release(act.pool, PoolCache::returned);
      return tell_of_waits(0);
    case InferredCall::Kind::release_pool:
      return release(act.pool, PoolCache::kept);
    case InferredCall::Kind::park:
      parked_[act.parked] = std::exchange(blocks_[program_.slots[event]], Placement{});
      return;
  }
}

void Caller::release(PoolIndex pool, PoolCache cache) {
  if (abilities_.pools != nullptr) abilities_.pools->release_pool(pool, cache);
}

void Caller::complete_late(std::uint64_t event, const Placement& block) {
  if (block.handle == kNoHandle) return;
  if (watcher_ && block.size != 0) watcher_->freed(event, block);
  timed([&] { strategy_.complete_free(block.handle); });
  if (moved_out_) note_moved_out();
  if (watcher_) watcher_->on_late_completion(event, block);
}

bool Caller::take_back() {
  tell_of_waits(0);
  if (!moved_out_) return true;
  note_moved_out();
  const std::uint64_t unserved = strategy_.usage().unserved_returns;
  return std::exchange(unserved_returns_, unserved) == unserved;
}

void Caller::note_moved_out() {
  for (const Handle moved : *moved_out_) {
    Placement& block = blocks_[slot_of_[moved]];
    if (watcher_) watcher_->moved_out(block);
    accounts_.move_out(std::exchange(block.size, 0));
  }
}

void Caller::note_moved() {
  for (const Placement& there : *moved_) {
    Placement& block = blocks_[slot_of_[there.handle]];
    if (watcher_) watcher_->moved(block, there);
    block = there;
  }
}

void Caller::tell_watcher_of_waits(StreamIndex stream) {
  const StrategyUsage usage = strategy_.usage();
  if (std::exchange(syncs_, usage.syncs) != usage.syncs) watcher_->synchronised();
  const std::uint64_t before = std::exchange(stream_waits_, usage.stream_waits);
  if (before != usage.stream_waits) {
    watcher_->stream_waited(stream, usage.stream_waits - before);
  }
}

bool Accounts::begin_measuring() {
  metrics_ = {};
  tally_ = {.requested = tally_.requested, .allocated = tally_.allocated};
  sums_.usage_before = device_.usage();
  sums_.strategy_before = strategy_.usage();
  // What the strategy took when it was made belongs to a run from the first event on.
  if (device_seconds_ && measuring_.from > 0) {
    sums_.seconds_before = *device_seconds_;
  }
  tally_.highest_held = device_.usage().peak_held;
  note_allocated();
  return note_reserved(device_.usage().held);
}

void Accounts::move_out(Bytes allocated) {
  ++metrics_.moved_out_blocks;
  metrics_.moved_out += allocated;
  tally_.allocated -= allocated;
}

void Accounts::note_served_after_all(Bytes requested) {
  metrics_.peak_asked = std::max(metrics_.peak_asked, tally_.requested + requested);
  ++metrics_.recorded_ooms_served;
}

bool Accounts::note_reserved(Bytes reserved) {
  if (reserved <= tally_.peak_reserved) return false;
  tally_.peak_reserved = reserved;
  tally_.note_fuller(strategy_.free_space());
  return true;
}

void Accounts::note_oom(std::uint64_t event, const Request& request, OomPlace::RefusedBy told) {
  ++metrics_.ooms;
  if (metrics_.first_oom) return;
  const FreeSpace space = strategy_.free_space();
  const bool is_known = told == OomPlace::RefusedBy::replayed;
  const Bytes outside = is_known ? std::min(device_.free_bytes(), space.obtainable) : 0;
  metrics_.first_oom = OomPlace{event,
                                request.size,
                                outside + space.total,
                                std::max(space.largest, outside),
                                tally_.requested,
                                told,
                                tally_.allocated,
                                usage_.held,
                                device_.free_bytes(),
                                space.obtainable};
}

DeviceUsage Accounts::calls_since_measuring() const {
  // What the strategy took when it was made belongs to a run from the first event on.
  DeviceUsage made = measuring_.from == 0 ? sums_.built : DeviceUsage{};
  made.allocs += usage_.allocs - sums_.usage_before.allocs;
  made.frees += usage_.frees - sums_.usage_before.frees;
  made.maps += usage_.maps - sums_.usage_before.maps;
  made.unmaps += usage_.unmaps - sums_.usage_before.unmaps;
  return made;
}

RunSoFar Accounts::so_far() const {
  const DeviceUsage made = calls_since_measuring();
  return {metrics_.ooms, strategy_.usage().oom_retries - sums_.strategy_before.oom_retries,
          tally_.peak_reserved, made.allocs + made.frees + made.maps + made.unmaps};
}

EventState Accounts::state_after(std::uint64_t event,
                                 const std::optional<Placement>& concerned) const {
  return {event,
          concerned,
          tally_.requested,
          tally_.allocated,
          usage_.held,
          tally_.peak_reserved,
          metrics_.ooms};
}

RunMetrics Accounts::finish(double seconds, bool testimony) const {
  RunMetrics m = metrics_;
  const StrategyUsage own = strategy_.usage();
  const DeviceUsage made = calls_since_measuring();
  m.events = tally_.events;
  m.allocs = tally_.requests;
  m.peak_requested = tally_.peak_requested;
  m.peak_asked = std::max(m.peak_asked, tally_.peak_requested);
  m.peak_allocated = tally_.peak_allocated;
  m.peak_reserved = tally_.peak_reserved;
  m.gap_at_peak_reserved = tally_.peak_reserved - std::min(tally_.peak_reserved, tally_.fullest);
  m.external_fragmentation =
      ratio_above(tally_.space_at_fullest.total, tally_.space_at_fullest.largest);
  m.end_requested = tally_.requested;
  m.end_allocated = tally_.allocated;
  m.end_reserved = usage_.held;
  // Blocks that are moved out still count as requested, which says nothing of waste.
  m.internal_fragmentation = m.moved_out_blocks != 0
                                 ? std::numeric_limits<double>::quiet_NaN()
                                 : ratio_above(m.peak_allocated, tally_.requested_at_peak);
  m.lower_bound = m.peak_allocated;
  m.device_allocs = made.allocs;
  m.device_frees = made.frees;
  m.device_maps = made.maps;
  m.device_unmaps = made.unmaps;
  m.oom_retries = own.oom_retries - sums_.strategy_before.oom_retries;
  m.syncs = own.syncs - sums_.strategy_before.syncs;
  m.stream_waits = own.stream_waits - sums_.strategy_before.stream_waits;
  m.stall_seconds = own.stall_seconds - sums_.strategy_before.stall_seconds;
  m.clairvoyant = own.clairvoyant;
  m.segments_peak = usage_.peak_regions;
  m.segments_end = usage_.regions;
  m.replay_seconds = seconds;
  if (device_seconds_) {
    m.modelled_device_seconds = *device_seconds_ - sums_.seconds_before;
  }
  if (testimony) {
    Testimony told = strategy_.testimony();
    m.counters = std::move(told.counters);
    m.remarks = std::move(told.remarks);
  }
  return m;
}

Begun begin(const Program& program, Strategy& strategy, DeviceModel& device, Caller& caller,
            const ReplayOptions& options, bool adopt_start) {
  if (options.begin_with) {
    return begin_elsewhere(program, strategy, device, caller, options.begin_with);
  }
  const bool starts_empty = program.start->segments.empty();
  if (starts_empty || program.starts_cold) return {.exact = starts_empty};
  if (adopt_start && take_over(*program.start, strategy, device, caller.blocks())) {
    for (const Program::Block& block : program.blocks) caller.note_there(block);
    return {};
  }
  return allocate_blocks(program, caller, options.watcher);
}

bool take_over(const MemoryState& state, Strategy& strategy, DeviceModel& device,
               std::span<Placement> by_slot) {
  for (const SegmentInfo& segment : state.segments) {
    device.adopt(segment.address, segment.size, segment.expandable);
  }
  Adoption* const adoption = strategy.abilities().adoption;
  if (adoption == nullptr) return false;
  std::vector<Handle> handles(by_slot.size(), kNoHandle);
  adoption->adopt(state, handles);
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free || block.slot == kNoSlot) continue;
      by_slot[block.slot] = {block.address, block.size, handles[block.slot]};
    }
  }
  return true;
}

}  // namespace memreplay
