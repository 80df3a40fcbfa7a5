#include "analysis/late_start/rehearsal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/units.hpp"
#include "replay/caller.hpp"

namespace memreplay {
namespace {

Bytes scaled_by(Bytes size, double factor) {
  return std::max<Bytes>(1, bytes_of(static_cast<double>(size) * factor));
}

bool holds_block(const SegmentInfo& segment) {
  return std::ranges::any_of(
      segment.blocks, [](const BlockInfo& block) { return block.state != BlockState::free; });
}

// One that stays and was put into cached memory.
bool is_guest(const EarlierBlock& block) { return block.persistent && !block.founder; }

}  // namespace

bool Rehearsal::prepare(const Preparation& preparation, std::size_t done) {
  const std::vector<double>& steps = preparation.rehearsals;
  if (done == 0 && !begin(preparation.start, !steps.empty())) return false;
  for (; done < steps.size(); ++done) {
    rehearse(steps[done], done == 0 && preparation.start == Preparation::Start::founders_first);
  }
  return true;
}

bool Rehearsal::begin(Preparation::Start start, bool rehearsed) {
  using Start = Preparation::Start;
  switch (start) {
    case Start::kept:
      return adopt(false);
    case Start::kept_live:
      return adopt(true);
    case Start::founders_first:
      if (rehearsed && script_.begins_at > 0) {
        place_all([](const EarlierBlock& block) { return block.persistent && block.founder; });
        place_alive();
        break;
      }
      place_all([](const EarlierBlock& block) { return !is_guest(block); });
      if (!rehearsed) place_all(is_guest);
      break;
    case Start::idle_first:
      place_all([](const EarlierBlock& block) { return block.founder; });
      hold_idle_segments();
      place_all(is_guest);
      place_all([](const EarlierBlock& block) { return !block.founder && !block.persistent; });
      break;
  }
  return true;
}

// What lives where the first rehearsal begins, but for what the recording never frees.
void Rehearsal::place_alive() {
  const Program& program = script_.rehearsed;
  std::map<Slot, Request> alive;
  std::vector<Slot> order;  // by request; the last place counts where a slot is used again
  const auto is_there = [&](Slot slot, const Request& request) {
    alive[slot] = request;
    order.push_back(slot);
  };
  for (const EarlierBlock& block : script_.parts.blocks) {
    if (!block.persistent && !block.pending) is_there(block.slot, block.request);
  }
  for (std::uint64_t event = 0; event < script_.begins_at; ++event) {
    const Op op = program.ops[event];
    const Slot slot = program.slots[event];
    if (slot == kNoSlot || is_driver_event(op)) continue;
    if (op == Op::allocate && program.sizes[event] > 0) is_there(slot, program.request(event));
    if (op == Op::free || op == Op::free_requested) alive.erase(slot);
  }
  std::set<Slot> placed;
  std::vector<Slot> last;
  for (auto slot = order.rbegin(); slot != order.rend(); ++slot) {
    if (alive.contains(*slot) && placed.insert(*slot).second) last.push_back(*slot);
  }
  for (auto slot = last.rbegin(); slot != last.rend(); ++slot) {
    const auto placement = strategy_.allocate(alive.at(*slot));
    refused_ += !placement;
    if (placement) placed_[*slot] = *placement;
  }
}

// Guests came when what the recording's end leaves was still there.
void Rehearsal::rehearse(double factor, bool first) {
  const std::uint64_t size = script_.rehearsed.size();
  const std::uint64_t from = first ? script_.begins_at : 0;
  const std::uint64_t guests_at = first ? std::clamp(script_.guests_at, from, size) : size;
  play(factor, from, guests_at);
  if (first) place_all(is_guest);
  play(factor, guests_at, size);
  clear_left();
  place_all([&](const EarlierBlock& block) {
    return !block.persistent && placed_[block.slot].handle == kNoHandle;
  });
}

bool Rehearsal::adopt(bool live_only) {
  MemoryState state = *script_.rehearsed.start;
  if (live_only) std::erase_if(state.segments, [](const auto& s) { return !holds_block(s); });
  return take_over(state, strategy_, device_, placed_);
}

void Rehearsal::place(const EarlierBlock& block) {
  const auto placement = strategy_.allocate(block.request);
  if (!placement) {
    ++refused_;
    return;
  }
  placed_[block.slot] = *placement;
  if (block.pending) strategy_.request_free(placement->handle);
}

template <typename Which>
void Rehearsal::place_all(const Which& which) {
  for (const EarlierBlock& block : script_.parts.blocks) {
    if (which(block)) place(block);
  }
}

void Rehearsal::hold_idle_segments() {
  std::vector<Handle> held;
  for (const Request& request : script_.parts.idle_segments) {
    if (const auto placement = strategy_.allocate(request)) held.push_back(placement->handle);
  }
  for (const Handle block : held) strategy_.free(block, {});
}

void Rehearsal::play(double factor, std::uint64_t from, std::uint64_t to) {
  const Program& program = script_.rehearsed;
  auto act = std::ranges::lower_bound(program.acts, from, {}, &Act::before);
  for (std::uint64_t event = from; event < to; ++event) {
    // Pools live on: their memory is used again when the recording itself is played.
    for (; act != program.acts.end() && act->before <= event; ++act) {
      if (act->kind == Act::Kind::empty_cache) strategy_.empty_cache();
    }
    play_event(event, factor);
  }
}

// Blocks are completed as recorded, and what the program was refused is not asked for again.
void Rehearsal::play_event(std::uint64_t event, double factor) {
  const Program& program = script_.rehearsed;
  const Op op = program.ops[event];
  if (op == Op::empty_cache && !program.keeps_cache) strategy_.empty_cache();
  const Slot slot = program.slots[event];
  if (slot == kNoSlot || is_driver_event(op)) return;
  Placement& placed = placed_[slot];
  if (op == Op::allocate) {
    Request request = program.request(event);
    if (request.size == 0) return;
    if (script_.parts.scalable[event]) request.size = scaled_by(request.size, factor);
    const auto placement = strategy_.allocate(request);
    placed = placement.value_or(Placement{});
    refused_ += !placement;
  } else if (placed.handle != kNoHandle) {
    if (op == Op::free_requested) return strategy_.request_free(placed.handle);
    if (op == Op::free) strategy_.free(placed.handle, {});
    if (op == Op::free_completed) strategy_.complete_free(placed.handle);
    placed.handle = kNoHandle;
  }
}

void Rehearsal::clear_left() {
  for (const LeftBlock& block : script_.parts.left) {
    Placement& placed = placed_[block.slot];
    if (placed.handle == kNoHandle) continue;
    if (block.pending) strategy_.complete_free(placed.handle);
    if (!block.pending) strategy_.free(placed.handle, {});
    placed.handle = kNoHandle;
  }
}

}  // namespace memreplay
