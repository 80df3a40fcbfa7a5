#include "program/growth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "program/live_blocks.hpp"
#include "program/steps.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kFewest = 3;  ///< steps, and rises, without which nothing is said to grow
constexpr std::size_t kManySteps = 8;

// The ends of complete steps: what is live after step i is what is live right before event i of
// these. The first is the beginning of step 1. When the last step ends only a marker tells.
std::vector<std::uint64_t> ends_of(const Trace& trace, const Steps& steps) {
  std::vector<std::uint64_t> ends = steps.begins;
  if (steps.source == Steps::Source::markers && trace.ops.back() == Op::marker) {
    ends.push_back(trace.size());
  }
  return ends;
}

bool cover_half(const Trace& trace, const Steps& steps) {
  const auto requests = [&](std::uint64_t from) {
    return std::count(trace.ops.begin() + static_cast<std::ptrdiff_t>(from), trace.ops.end(),
                      Op::allocate);
  };
  return 2 * requests(steps.begins.front()) >= requests(0);
}

/// A block that is there at the end of the steps [from, to).
struct Stay {
  std::uint32_t place = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  Bytes bytes = 0;
  std::uint64_t born = 0;  ///< event of its request
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

/// Blocks by what holds them, those from before the recording first.
std::vector<Stay> stays_of(const Trace& trace, const std::vector<std::uint64_t>& ends,
                           const Holders& holders) {
  std::vector<std::optional<Stay>> live(trace.slot_count);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      live[block.slot] = {holders.of(asker_of(trace, block), block.requested), 0, 0,
                          block.requested, 0};
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
      live[trace.slots[i]] = {holders.of(asker_of(trace, i), size), next, 0, size, i};
    } else if (op == Op::free || op == Op::free_requested) {
      end_at(live[trace.slots[i]], next);
    }
  }
  for (std::optional<Stay>& stay : live) end_at(stay, ends.size());
  std::ranges::sort(stays, {}, [](const Stay& stay) { return std::tuple(stay.place, stay.born); });
  return stays;
}

// The blocks of one place, or of all, after each step.
std::vector<Bytes> held_after(std::span<const Stay> stays, std::size_t ends) {
  std::vector<Bytes> held(ends + 1, 0);
  for (const Stay& stay : stays) {
    held[stay.from] += stay.bytes;
    held[stay.to] -= stay.bytes;  // below zero it comes round again
  }
  for (std::size_t i = 1; i <= ends; ++i) held[i] += held[i - 1];
  held.pop_back();
  return held;
}

// The first block of the growth that is never freed; where all are, of its first step.
std::uint64_t first_event(std::span<const Stay> stays, std::size_t since, std::size_t ends) {
  const auto grown = [&](const Stay& stay) { return stay.from >= since; };
  const auto found =
      std::ranges::find_if(stays, [&](const Stay& stay) { return grown(stay) && stay.to == ends; });
  return found != stays.end() ? found->born : std::ranges::find_if(stays, grown)->born;
}

std::vector<GrowingPlace> growing_places(const std::vector<Stay>& stays, std::size_t ends,
                                         const Holders& holders) {
  std::vector<GrowingPlace> places;
  for (auto from = stays.begin(); from != stays.end();) {
    const auto to = std::find_if(from, stays.end(),
                                 [&](const Stay& stay) { return stay.place != from->place; });
    const std::span<const Stay> own(from, to);
    const std::uint32_t place = from->place;
    from = to;
    std::vector<Bytes> live = held_after(own, ends);
    const auto since = grows_since(live);
    if (!since) continue;
    const auto slope = static_cast<Bytes>(slope_from(live, *since));
    places.push_back(
        {holders.name(place), std::move(live), slope, *since, first_event(own, *since, ends)});
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
                 const std::optional<Bytes>& room, StepGrowth& growth) {
  std::optional<std::size_t> since;
  if (growth.places.empty()) since = grows_since(growth.live);
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
  std::optional<std::size_t> after_jump;
  Bytes most_before = 0;
  std::size_t seen = 0;
  for (std::size_t i = 0; i + kFewest <= rises.size(); ++i) {
    const std::size_t since = rises[i];
    const std::size_t steps = last - since + 1;
    if (steps < fewest) break;
    for (; seen < since; ++seen) most_before = std::max(most_before, live[seen]);
    const bool goes_on = rises_within(since + steps / 3, since + 2 * steps / 3) &&
                         rises_within(since + 2 * steps / 3, last + 1);
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
  StepGrowth growth;
  Steps steps = steps_of(recording, trace);
  if (steps.source == Steps::Source::repetition && !cover_half(trace, steps)) steps = {};
  growth.source = steps.source;
  if (steps.source == Steps::Source::none) return growth;
  const std::vector<std::uint64_t> ends = ends_of(trace, steps);
  growth.steps = ends.size() - 1;
  const Holders holders(recording, trace, by);
  const std::vector<Stay> stays = stays_of(trace, ends, holders);
  growth.live = held_after(stays, ends.size());
  if (growth.steps < kFewest) return growth;
  growth.places = growing_places(stays, ends.size(), holders);
  note_growth(trace, ends, room, growth);
  return growth;
}

}  // namespace memreplay
