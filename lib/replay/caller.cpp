#include "replay/caller.hpp"

#include <utility>

#include "trace/reserve.hpp"

namespace memreplay {

Caller::Caller(const Program& program, Strategy& strategy, Accounts& accounts,
               const PlayOptions& options)
    : program_(program),
      strategy_(strategy),
      accounts_(accounts),
      options_(options),
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
  if (options_.watcher) options_.watcher->placed(0, block.request, placement);
  if (options_.watcher) options_.watcher->on_start_block(block.slot, placement);
  if (!block.pending) return accounts_.add_block(block.request.size, placement.size);
  if (options_.watcher) options_.watcher->free_requested(0, placement);
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
  if (options_.watcher && block.size != 0) options_.watcher->free_requested(event, block);
  strategy_.request_free(block.handle);
  accounts_.remove_block(requested, block.size);
}

void Caller::empty_cache() {
  strategy_.empty_cache();
  tell_of_waits(0);
}

void Caller::act(std::uint64_t event, const Act& act) {
  switch (act.kind) {
    case Act::Kind::complete:
      return complete_late(event, parked_[act.parked]);
    case Act::Kind::empty_cache:
      return empty_cache();
    case Act::Kind::end_pool:
      release(act.pool, PoolCache::returned);
      return tell_of_waits(0);
    case Act::Kind::release_pool:
      return release(act.pool, PoolCache::kept);
    case Act::Kind::park:
      parked_[act.parked] = std::exchange(blocks_[program_.slots[event]], Placement{});
      return;
  }
}

void Caller::release(PoolIndex pool, PoolCache cache) {
  if (abilities_.pools != nullptr) abilities_.pools->release_pool(pool, cache);
}

void Caller::complete_late(std::uint64_t event, const Placement& block) {
  if (block.handle == kNoHandle) return;
  if (options_.watcher && block.size != 0) options_.watcher->freed(event, block);
  timed([&] { strategy_.complete_free(block.handle); });
  if (moved_out_) note_moved_out();
  if (options_.watcher) options_.watcher->on_late_completion(event, block);
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
    if (options_.watcher) options_.watcher->moved_out(block);
    accounts_.move_out(std::exchange(block.size, 0));
  }
}

void Caller::note_moved() {
  for (const Placement& there : *moved_) {
    Placement& block = blocks_[slot_of_[there.handle]];
    if (options_.watcher) options_.watcher->moved(block, there);
    block = there;
  }
}

void Caller::tell_watcher_of_waits(StreamIndex stream) {
  const StrategyUsage usage = strategy_.usage();
  if (std::exchange(syncs_, usage.syncs) != usage.syncs) options_.watcher->synchronised();
  const std::uint64_t before = std::exchange(stream_waits_, usage.stream_waits);
  if (before != usage.stream_waits) {
    options_.watcher->stream_waited(stream, usage.stream_waits - before);
  }
}

}  // namespace memreplay
