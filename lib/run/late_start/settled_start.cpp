#include "run/late_start/settled_start.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "core/torch_sizes.hpp"
#include "device/simulated_device.hpp"
#include "program/lives.hpp"
#include "program/places.hpp"
#include "program/program_course.hpp"
#include "replay/program.hpp"
#include "replay/trial.hpp"
#include "run/late_start/rehearsal.hpp"

namespace memreplay {
namespace {

constexpr Address kSpreadFrom = Address{1} << 40;

// What stays open of the reserved peak where the tried starts miss nothing. Among 326 predictions
// from late recordings, 86 of them recorded on real cards, 308 lie within that and what was missed.
constexpr double kOpen = 1.0 / 128;
constexpr double kOpenWithOptimizer = 1.0 / 16;  ///< where in the first step its state went is open

/// Each block of the start in a segment of its own: where they lay with other sizes says nothing.
void spread_start(Trace& trace) {
  MemoryState spread;
  Address at = kSpreadFrom;
  for (const SegmentInfo& segment : trace.start.segments) {
    for (BlockInfo block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      block.address = at;
      block.size = round_up(std::max<Bytes>(block.requested, 1), torch::kMinBlockSize);
      at += round_up(block.size, torch::kSmallBuffer);
      spread.segments.push_back({.address = block.address,
                                 .size = block.size,
                                 .stream = segment.stream,
                                 .pool = segment.pool,
                                 .small_pool = block.size <= torch::kSmallSize,
                                 .blocks = {block}});
    }
  }
  trace.start = std::move(spread);
}

std::vector<SettledStart> ways_to_settle(const Subject& of) {
  using Age = SettledStart::Age;
  const bool falls = of.order() == AddressPolicy::cuda_linux;
  const Age likeliest = falls ? Age::against_address : Age::by_address;
  const Age other = falls ? Age::by_address : Age::against_address;
  return {{likeliest, true}, {other, true}, {likeliest, false}};
}

struct WithStart {
  SettledStart how;
  MadeRecording made;
  double open = 0;  ///< share of what is reserved
};

/// A made recording with each start. Ways that come to nothing are left out.
std::vector<WithStart> with_starts(const Subject& of, const MadeRecording& spread) {
  const Subject subject(spread.recording, spread.trace(), spread.origin);
  std::vector<WithStart> all;
  for (const SettledStart& how : ways_to_settle(of)) {
    auto settled = settled_start(subject, of, how);
    if (!settled) continue;
    WithStart& one = all.emplace_back(
        WithStart{how, spread, settled->by_optimizer ? kOpenWithOptimizer : kOpen});
    one.made.recording.traces.front().start = std::move(settled->state);
  }
  return all;
}

double peak_reserved(const Subject& subject) {
  const Contender usual(subject, usual_strategy(subject.recording()));
  return static_cast<double>(replay(usual, {}).result.metrics.peak_reserved);
}

/// Segments of large blocks in the order in which they were obtained.
std::vector<const SegmentInfo*> by_age(const MemoryState& state, bool against_address) {
  std::vector<const SegmentInfo*> segments;
  for (const SegmentInfo& segment : state.segments) {
    if (!segment.small_pool) segments.push_back(&segment);
  }
  if (against_address) std::ranges::reverse(segments);
  return segments;
}

/// What stays and was there before the first step: the founders of segments that are older than any
/// that a step was the reason for. Slots.
std::set<Slot> before_first_step(const WarmParts& parts, const MemoryState& state,
                                 bool against_address) {
  std::set<Slot> kept;
  for (const EarlierBlock& block : parts.blocks) {
    if (block.persistent && block.founder) kept.insert(block.slot);
  }
  std::set<Slot> before;
  bool stepped = false;
  for (const SegmentInfo* segment : by_age(state, against_address)) {
    const bool founded = std::ranges::any_of(
        segment->blocks, [&](const BlockInfo& block) { return kept.contains(block.slot); });
    stepped |= !founded;
    for (const BlockInfo& block : segment->blocks) {
      if (!stepped && kept.contains(block.slot)) before.insert(block.slot);
    }
  }
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (segment.small_pool && kept.contains(block.slot)) before.insert(block.slot);
    }
  }
  return before;
}

// What came later follows the order of what it is as large as: an optimizer goes through the
// parameters.
void sort_guests(std::vector<EarlierBlock>& blocks) {
  std::map<Bytes, std::vector<std::size_t>> places;  // founders that persist, by size
  std::map<Bytes, std::size_t> guests;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].persistent && blocks[i].founder) places[blocks[i].request.size].push_back(i);
    if (blocks[i].persistent && !blocks[i].founder) ++guests[blocks[i].request.size];
  }
  std::map<Bytes, std::size_t> seen;
  const auto place = [&](const EarlierBlock& block) {
    const Bytes size = block.request.size;
    const auto found = places.find(size);
    if (!block.persistent || block.founder) return std::size_t{0};
    if (found == places.end()) return blocks.size();
    const std::size_t each = std::max<std::size_t>(1, guests[size] / found->second.size());
    return found->second[std::min(seen[size]++ / each, found->second.size() - 1)];
  };
  std::vector<std::pair<std::size_t, EarlierBlock>> placed;
  for (const EarlierBlock& block : blocks) placed.emplace_back(place(block), block);
  std::ranges::stable_sort(placed, {}, [](const auto& one) { return one.first; });
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = placed[i].second;
}

/// The parts of a made recording. Where an optimizer made some of what stays, the recorded one
/// shows which of its blocks were there before the first step.
WarmParts parts_of(const Subject& made, const Subject& of, const TorchModel& model,
                   const SettledStart& how, bool optimized) {
  WarmParts parts = warm_parts(made.trace(), model.settings);
  if (!optimized) {
    for (EarlierBlock& block : parts.blocks) block.founder |= block.persistent;
    if (how.age == SettledStart::Age::against_address) std::ranges::reverse(parts.blocks);
    return parts;
  }
  const WarmParts recorded = warm_parts(of.trace(), model.settings);
  const bool falls = of.order() == AddressPolicy::cuda_linux;
  const std::set<Slot> before = before_first_step(recorded, of.trace().start, falls);
  for (std::size_t i = 0; i < std::min(parts.blocks.size(), recorded.blocks.size()); ++i) {
    parts.blocks[i].founder = before.contains(recorded.blocks[i].slot);
  }
  if (how.age == SettledStart::Age::against_address) std::ranges::reverse(parts.blocks);
  sort_guests(parts.blocks);
  return parts;
}

/// The first event of an optimizer from `from` on, else that at which what a backward pass left is
/// first freed; UINT64_MAX where neither shows.
std::uint64_t optimizer_at(const Recording& recording, const Trace& trace, std::uint64_t from) {
  const Passes passes(recording, trace);
  if (!passes.are_known()) return UINT64_MAX;
  const BlockLives lives = lives_of(trace);
  for (std::uint64_t event = from; event < trace.size(); ++event) {
    if (passes.backward_before(event) == passes.backward_before(from)) continue;
    if (is_of_optimizer(recording, stack_at(trace, event))) return event;
    const std::uint32_t block = lives.block_of[event];
    if (block == BlockLives::kNone || lives.blocks[block].freed != event) continue;
    const BlockLife& life = lives.blocks[block];
    const bool outlives = !life.existed_before() && passes.is_backward(life.stack) &&
                          !passes.is_backward(stack_at(trace, event));
    if (outlives && passes.backward_before(event) == passes.backward_before(trace.size())) {
      return event;
    }
  }
  return UINT64_MAX;
}

/// Names the blocks of a state by their slots.
void name_blocks(const MemoryState& start, const std::vector<Placement>& placed,
                 MemoryState& state) {
  std::map<Address, const BlockInfo*> named;
  for (const SegmentInfo& segment : start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot == kNoSlot || placed[block.slot].handle == kNoHandle) continue;
      named[placed[block.slot].address] = &block;
    }
  }
  for (SegmentInfo& segment : state.segments) {
    for (BlockInfo& block : segment.blocks) {
      const auto found = named.find(block.address);
      if (block.state == BlockState::free || found == named.end()) continue;
      block.slot = found->second->slot;
      block.requested = found->second->requested;
      block.stack = found->second->stack;
    }
  }
}

}  // namespace

std::uint64_t least_live_at(const Trace& trace) {
  __extension__ using Wide = __int128;
  Wide live = 0;
  Wide least = 0;
  std::uint64_t at = 0;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    if (trace.slots[event] == kNoSlot || is_driver_event(op)) continue;
    if (op == Op::allocate) live += trace.sizes[event];
    if (op == Op::free || op == Op::free_requested) live -= trace.sizes[event];
    if (live >= least) continue;
    least = live;
    at = event + 1;
  }
  return at;
}

std::optional<SettledMemory> settled_start(const Subject& made, const Subject& of,
                                           const SettledStart& how) {
  if (of.verified() == nullptr) return std::nullopt;
  const StrategySpec spec = under_release(usual_strategy(of.recording()), of.verified()->release);
  const auto model = of.model_of(spec);
  if (!model) return std::nullopt;
  const std::uint64_t from = how.from_step ? least_live_at(made.trace()) : 0;
  const std::uint64_t guests_at = optimizer_at(made.recording(), made.trace(), from);
  const WarmParts parts = parts_of(made, of, *model, how, guests_at != UINT64_MAX);
  const Program program = program_of(made);
  const Contender contender(made, spec);
  SimulatedDevice device({.policy = contender.order_of_addresses(AddressPolicy::automatic)});
  const std::unique_ptr<Strategy> strategy = contender.make(made.context(device));
  std::vector<Placement> placed(program.slot_count);
  const WarmScript script{program, program, parts, from, guests_at};
  Rehearsal rehearsal(script, *strategy, device, placed);
  if (!rehearsal.prepare({Preparation::Start::founders_first, {1}}) || rehearsal.refused() > 0) {
    return std::nullopt;
  }
  MemoryState state = strategy->memory_state();
  name_blocks(made.trace().start, placed, state);
  return SettledMemory{std::move(state), guests_at != UINT64_MAX};
}

std::vector<StartTried> starts_tried(const Subject& recorded) {
  std::vector<StartTried> tried;
  if (recorded.trace().start.segments.empty() || recorded.verified() == nullptr) return tried;
  const BlockLives lives = lives_of(recorded.trace());
  Rewritten same = Rewrite(recorded.trace(), lives).write();
  spread_start(same.trace);
  const MadeRecording spread = made_recording(recorded, std::move(same), "its start was tried");
  const double truth = peak_reserved(recorded);
  for (const auto& [how, made, open] : with_starts(recorded, spread)) {
    const double there = peak_reserved(Subject(made.recording, made.trace(), made.origin));
    tried.push_back({how, truth > 0 ? there / truth - 1 : 0});
  }
  return tried;
}

SettledRecordings settled(const Subject& of, Rewritten trace, const std::string& why,
                          std::span<const std::span<const StartTried>> tried) {
  if (trace.trace.start.segments.empty()) return {{made_recording(of, std::move(trace), why)}};
  spread_start(trace.trace);
  MadeRecording spread = made_recording(of, std::move(trace), why);
  std::vector<WithStart> all = with_starts(of, spread);
  if (all.empty()) return {{std::move(spread)}};
  const auto worst = [&](const SettledStart& how) {
    double miss = 0;
    for (const std::span<const StartTried> of_one : tried) {
      const auto found = std::ranges::find(of_one, how, &StartTried::how);
      if (found != of_one.end()) miss = std::max(miss, std::abs(found->miss));
    }
    return miss;
  };
  std::ranges::stable_sort(all, {}, [&](const WithStart& one) { return worst(one.how); });
  SettledRecordings settled{.made = {}, .reserved_open = all[0].open + worst(all[0].how)};
  for (WithStart& one : all) settled.made.push_back(std::move(one.made));
  return settled;
}

}  // namespace memreplay
