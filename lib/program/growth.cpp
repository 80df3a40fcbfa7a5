#include "program/growth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "program/live_blocks.hpp"
#include "program/steps.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kFewest = 3;  ///< steps, and rises, without which nothing is said to grow
constexpr std::size_t kManySteps = 8;

// The ends of complete steps: what is live after step i is what is live right before event i of
// these. The first is the beginning of step 1.
std::vector<std::uint64_t> ends_of(const Trace& trace, const Steps& steps) {
  std::vector<std::uint64_t> ends = steps.begins;
  if (steps.ends_whole) ends.push_back(trace.size());
  return ends;
}

/// A block that is there at the end of the steps [from, to).
struct Stay {
  std::uint32_t place = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  Bytes bytes = 0;
  std::uint64_t born = 0;  ///< event of its request
  bool freed = false;

  /// It outlives the step after the one that made it; others are results of a step.
  bool lasts() const { return !freed || to - from > 1; }
};

/// Who holds a block: its place or, where a recording tells of none, the class of its size.
class Holders {
 public:
  Holders(const Recording& recording, const Trace& trace, PlaceBy by)
      : places_(recording, by), told_(says_who_asked(trace)) {}

  std::uint32_t of(const Asker& asker, Bytes size) const {
    return told_ ? places_.of(asker) : static_cast<std::uint32_t>(std::bit_width(size));
  }
  std::string name(std::uint32_t holder) const {
    if (told_) return places_.name(holder);
    return size_class(holder == 0 ? 0 : Bytes{1} << (holder - 1));
  }

 private:
  Places places_;
  bool told_;
};

/// Blocks by what holds them, those from before the recording first. `holder_of`: who asked, size.
template <typename HolderOf>
std::vector<Stay> stays_of(const Trace& trace, const std::vector<std::uint64_t>& ends,
                           const HolderOf& holder_of) {
  std::vector<std::optional<Stay>> live(trace.slot_count);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      live[block.slot] = {holder_of(asker_of(trace, block), block.requested), 0, 0, block.requested,
                          0};
    }
  }
  std::vector<Stay> stays;
  const auto end_at = [&](std::optional<Stay>& stay, std::size_t end) {
    if (stay && stay->from < end) {
      stay->to = end;
      stays.push_back(*stay);
    }
    stay.reset();
  };
  std::size_t next = 0;  // the first end after this event
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    while (next < ends.size() && ends[next] <= i) ++next;
    const Op op = trace.ops[i];
    if (op == Op::allocate) {
      const Bytes size = trace.sizes[i];
      live[trace.slots[i]] = {holder_of(asker_of(trace, i), size), next, 0, size, i};
    } else if (op == Op::free || op == Op::free_requested) {
      std::optional<Stay>& stay = live[trace.slots[i]];
      if (stay) stay->freed = true;
      end_at(stay, next);
    }
  }
  for (std::optional<Stay>& stay : live) end_at(stay, ends.size());
  std::ranges::sort(stays, {}, [](const Stay& stay) { return std::tuple(stay.place, stay.born); });
  return stays;
}

// The blocks of one place, or of all, after each step; `lasting`: only those that last.
std::vector<Bytes> held_after(std::span<const Stay> stays, std::size_t ends, bool lasting) {
  std::vector<Bytes> held(ends + 1, 0);
  for (const Stay& stay : stays) {
    if (lasting && !stay.lasts()) continue;
    held[stay.from] += stay.bytes;
    held[stay.to] -= stay.bytes;  // below zero it comes round again
  }
  for (std::size_t i = 1; i <= ends; ++i) held[i] += held[i - 1];
  held.pop_back();
  return held;
}

/// Requested in each step, the first what is before step 1.
std::vector<Bytes> asked_in(const Trace& trace, const std::vector<std::uint64_t>& ends) {
  std::vector<Bytes> asked(ends.size(), 0);
  std::size_t next = 0;
  for (std::uint64_t i = 0; i < ends.back(); ++i) {
    while (ends[next] <= i) ++next;
    if (trace.ops[i] == Op::allocate) asked[next] += trace.sizes[i];
  }
  return asked;
}

/// How much of the middle value is added in a step.
double relative_slope(const std::vector<Bytes>& values, std::size_t from) {
  std::vector<Bytes> sorted(values.begin() + static_cast<std::ptrdiff_t>(from), values.end());
  std::ranges::sort(sorted);
  const auto middle = static_cast<double>(std::max<Bytes>(sorted[sorted.size() / 2], 1));
  return static_cast<double>(slope_from(values, from)) / middle;
}

// Whether the steps ask for more everywhere, as with longer and longer inputs: then their results
// grow too.
bool grows_with_its_steps(std::span<const Stay> stays, const std::vector<Bytes>& live,
                          std::vector<Bytes> asked, std::size_t since) {
  constexpr double kAlike = 0.25;
  for (const Stay& stay : stays) asked[stay.from] -= std::min(asked[stay.from], stay.bytes);
  return relative_slope(asked, since) > kAlike * relative_slope(live, since);
}

// The first block of the growth that is never freed; where all are, of its first step.
std::uint64_t first_event(std::span<const Stay> stays, std::size_t since, std::size_t ends) {
  const auto grown = [&](const Stay& stay) { return stay.from >= since; };
  const auto found =
      std::ranges::find_if(stays, [&](const Stay& stay) { return grown(stay) && stay.to == ends; });
  return found != stays.end() ? found->born : std::ranges::find_if(stays, grown)->born;
}

/// By what lasts, or by a result that takes the place of a smaller one in every step.
std::optional<GrowingPlace> growing_place(std::span<const Stay> stays, std::size_t ends,
                                          const std::vector<Bytes>& asked) {
  GrowingPlace place{.live = held_after(stays, ends, false)};
  const std::vector<Bytes> lasting = held_after(stays, ends, true);
  auto since = grows_since(lasting);
  if (since) {
    place.per_step = static_cast<Bytes>(slope_from(lasting, *since));
  } else {
    since = grows_since(place.live);
    if (!since || grows_with_its_steps(stays, place.live, asked, *since)) return std::nullopt;
    place.per_step = static_cast<Bytes>(slope_from(place.live, *since));
  }
  place.since_step = *since;
  place.first_event = first_event(stays, *since, ends);
  return place;
}

std::vector<GrowingPlace> growing_places(const std::vector<Stay>& stays, std::size_t ends,
                                         const std::vector<Bytes>& asked, const Holders& holders) {
  std::vector<GrowingPlace> places;
  for (auto from = stays.begin(); from != stays.end();) {
    const auto to = std::find_if(from, stays.end(),
                                 [&](const Stay& stay) { return stay.place != from->place; });
    if (auto place = growing_place({from, to}, ends, asked)) {
      place->place = holders.name(from->place);
      places.push_back(std::move(*place));
    }
    from = to;
  }
  std::ranges::stable_sort(places, [](const GrowingPlace& a, const GrowingPlace& b) {
    return std::tie(b.per_step, a.place) < std::tie(a.per_step, b.place);
  });
  return places;
}

// Most that is requested in the last complete step.
Bytes peak_within(const Trace& trace, std::uint64_t from, std::uint64_t to) {
  RecordedLevels levels(trace);
  Bytes peak = 0;
  for (std::uint64_t i = 0; i < to; ++i) {
    levels.play(i);
    if (i >= from) peak = std::max(peak, levels.requested());
  }
  return peak;
}

void note_growth(const Trace& trace, const std::vector<std::uint64_t>& ends,
                 const std::vector<Bytes>& lasting, const std::optional<Bytes>& room,
                 StepGrowth& growth) {
  std::optional<std::size_t> since;
  if (growth.places.empty()) since = grows_since(lasting);
  if (!since && growth.places.empty()) {
    growth.verdict = StepGrowth::Verdict::steady;
    growth.per_step = slope_from(growth.live, growth.live.size() / 2);
    return;
  }
  // Other places in every one of a few steps: so programs begin, too.
  const bool few = since && growth.live.size() - *since < kManySteps;
  growth.verdict =
      growth.places.empty() && few ? StepGrowth::Verdict::unknown : StepGrowth::Verdict::grows;
  growth.since_step = growth.places.empty() ? *since : growth.places.front().since_step;
  for (const GrowingPlace& place : growth.places) {
    growth.since_step = std::min(growth.since_step, place.since_step);
  }
  growth.per_step = slope_from(growth.live, growth.since_step);
  growth.last_peak = peak_within(trace, ends[ends.size() - 2], ends.back());
  if (!room || growth.per_step <= 0 || growth.verdict == StepGrowth::Verdict::unknown) return;
  growth.room = room;
  const Bytes left = *room - std::min(*room, growth.last_peak);
  growth.steps_until_full = left / static_cast<Bytes>(growth.per_step);
}

StepGrowth step_growth(const Recording& recording, const Trace& trace, const Steps& steps,
                       PlaceBy by, const std::optional<Bytes>& room) {
  StepGrowth growth{.source = steps.source};
  if (steps.source == Steps::Source::none) return growth;
  const std::vector<std::uint64_t> ends = ends_of(trace, steps);
  growth.steps = ends.size() - 1;
  const Holders holders(recording, trace, by);
  const std::vector<Stay> stays = stays_of(
      trace, ends, [&](const Asker& asker, Bytes size) { return holders.of(asker, size); });
  growth.live = held_after(stays, ends.size(), false);
  if (growth.steps < kFewest) return growth;
  growth.places = growing_places(stays, ends.size(), asked_in(trace, ends), holders);
  note_growth(trace, ends, held_after(stays, ends.size(), true), room, growth);
  return growth;
}

}  // namespace

std::int64_t slope_from(const std::vector<Bytes>& live, std::size_t from) {
  constexpr std::size_t kMost = 400;  // when there are more, so many steps at equal distances
  const std::size_t steps = live.size() - from;
  const std::size_t taken = std::min(steps, kMost);
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < taken; ++i) at.push_back(from + i * steps / taken);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < at.size(); ++i) {
    for (std::size_t j = i + 1; j < at.size(); ++j) {
      const auto rise = static_cast<double>(static_cast<std::int64_t>(live[at[j]] - live[at[i]]));
      slopes.push_back(rise / static_cast<double>(at[j] - at[i]));
    }
  }
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::ranges::nth_element(slopes, middle);
  return std::llround(*middle);
}

std::optional<std::size_t> grows_since(const std::vector<Bytes>& live) {
  constexpr std::int64_t kJump =
      4;  // a first rise of so many times the slope is none of the growth
  if (live.size() <= kFewest) return std::nullopt;
  const std::size_t last = live.size() - 1;
  std::vector<Bytes> kept = live;  // what is never given back
  for (std::size_t i = last; i-- > 0;) kept[i] = std::min(kept[i], kept[i + 1]);
  std::vector<std::size_t> rises;
  for (std::size_t i = 1; i <= last; ++i) {
    if (kept[i] > kept[i - 1]) rises.push_back(i);
  }
  const auto rises_within = [&](std::size_t from, std::size_t to) {
    const auto next = std::ranges::lower_bound(rises, from);
    return next != rises.end() && *next < to;
  };
  const std::size_t fewest = std::max(kFewest, std::min(kManySteps, live.size() / 2));
  // It stands still for no longer than before.
  const auto goes_on_to_the_end = [&](std::size_t first) {
    std::size_t longest = 1;
    for (std::size_t i = first + 1; i < rises.size(); ++i) {
      longest = std::max(longest, rises[i] - rises[i - 1]);
    }
    return last - rises.back() <= longest;
  };
  std::optional<std::size_t> after_jump;
  Bytes most_before = 0;
  std::size_t seen = 0;
  for (std::size_t i = 0; i + kFewest <= rises.size(); ++i) {
    const std::size_t since = rises[i];
    const std::size_t steps = last - since + 1;
    if (steps < fewest) break;
    for (; seen < since; ++seen) most_before = std::max(most_before, live[seen]);
    const bool goes_on = rises_within(since + steps / 3, since + 2 * steps / 3) &&
                         rises_within(since + 2 * steps / 3, last + 1) && goes_on_to_the_end(i);
    if (!goes_on || live[last] <= most_before) continue;
    const std::int64_t slope = slope_from(live, since);
    if (slope <= 0) continue;
    const bool jumps = static_cast<std::int64_t>(live[since] - live[since - 1]) > kJump * slope;
    if (!jumps) return since;
    if (after_jump) break;
    after_jump = since;
  }
  return after_jump;
}

StepGrowth step_growth(const Recording& recording, const Trace& trace, PlaceBy by,
                       const std::optional<Bytes>& room) {
  return step_growth(recording, trace, steps_of(recording, trace), by, room);
}

std::optional<Growth> growth_of(const Recording& recording, const Trace& trace) {
  if (trace.streamed || trace.size() == 0) return std::nullopt;
  const Steps steps = steps_of(recording, trace);
  if (steps.source == Steps::Source::none) return std::nullopt;
  // Most programs keep no more after each step, whoever asks.
  const std::vector<std::uint64_t> ends = ends_of(trace, steps);
  const auto all = stays_of(trace, ends, [](const Asker&, Bytes) { return std::uint32_t{0}; });
  if (!grows_since(held_after(all, ends.size(), true)) &&
      !grows_since(held_after(all, ends.size(), false))) {
    return std::nullopt;
  }
  const StepGrowth growth = step_growth(recording, trace, steps, PlaceBy::place, {});
  if (growth.verdict != StepGrowth::Verdict::grows || growth.places.empty()) return std::nullopt;
  const GrowingPlace& most = growth.places.front();
  Growth fact{.place = most.place,
              .place_per_step = most.per_step,
              .since_step = most.since_step,
              .first_event = most.first_event,
              .places = growth.places.size(),
              .steps = growth.steps,
              .last_peak = growth.last_peak};
  for (const GrowingPlace& place : growth.places) {
    fact.per_step += place.per_step;
    fact.grown += place.live.back() - std::min(place.live.back(), place.live[place.since_step - 1]);
  }
  return fact;
}

}  // namespace memreplay
