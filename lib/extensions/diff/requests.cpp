#include "extensions/diff/requests.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "program/live_blocks.hpp"
#include "program/places.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kSizeClasses = 65;  // 0, then one for each power of two

std::vector<PlacePair> size_classes() {
  std::vector<PlacePair> classes;
  for (std::size_t i = 0; i < kSizeClasses; ++i) {
    const std::string name = size_class(i == 0 ? 0 : Bytes{1} << (i - 1));
    classes.push_back({name, name, {name}, {name}});
  }
  return classes;
}

PlaceSizes sizes_in(const Trace& trace, const Places& places) {
  std::vector<std::map<Bytes, std::uint64_t>> sizes(places.size());
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    if (is_request(trace.ops[i])) ++sizes[places.of(asker_of(trace, i))][trace.sizes[i]];
  }
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      ++sizes[places.of(asker_of(trace, block))][block.requested];
    }
  }
  PlaceSizes by_name;
  for (std::uint32_t place = 0; place < sizes.size(); ++place) {
    if (!sizes[place].empty()) by_name[places.name(place)] = std::move(sizes[place]);
  }
  return by_name;
}

std::set<std::string> names_of(const PlaceSizes& places) {
  std::set<std::string> names;
  for (const auto& [name, sizes] : places) names.insert(name);
  return names;
}

std::vector<std::size_t> numbers(const Places& places, const std::vector<PlacePair>& pairs,
                                 std::vector<std::string> PlacePair::*side) {
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const std::string& name : pairs[i].*side) by_name[name] = i;
  }
  std::vector<std::size_t> of_place(places.size());
  for (std::uint32_t place = 0; place < of_place.size(); ++place) {
    const auto found = by_name.find(places.name(place));
    if (found != by_name.end()) of_place[place] = found->second;
  }
  return of_place;
}

/// The requests of one side by step.
class Requests {
 public:
  Requests(const RecordedTrace& from, Side side, const CommonPlaces& places, const Steps& steps)
      : from_(from), side_(side), places_(places), by_step_(steps.begins.size() + 1) {
    for (std::uint64_t i = 0; i < from.trace.size(); ++i) {
      if (is_request(from.trace.ops[i])) by_step_[steps.of(i)].push_back(i);
    }
  }

  std::size_t steps() const { return by_step_.size(); }
  const std::vector<std::uint64_t>& of_step(std::size_t step) const {
    static const std::vector<std::uint64_t> kNone;
    return step < by_step_.size() ? by_step_[step] : kNone;
  }
  std::uint64_t count() const {
    std::uint64_t count = 0;
    for (const auto& requests : by_step_) count += requests.size();
    return count;
  }

  RequestMade made(std::uint64_t event) const {
    const StreamPool lane = from_.trace.lane(event);
    return {event,       from_.trace.sizes[event], {},
            lane.stream, lane.pool != 0,           from_.trace.ops[event] == Op::oom};
  }
  std::size_t place(std::uint64_t event) const {
    return places_.of(side_, asker(event), from_.trace.sizes[event]);
  }
  Asker asker(std::uint64_t event) const { return asker_of(from_.trace, event); }

 private:
  const RecordedTrace& from_;
  Side side_;
  const CommonPlaces& places_;
  std::vector<std::vector<std::uint64_t>> by_step_;
};

// Where one side does not say who asked, nothing says that the place is another one.
bool same(const Requests& a, std::uint64_t in_a, const Requests& b, std::uint64_t in_b) {
  const RequestMade one = a.made(in_a);
  const RequestMade other = b.made(in_b);
  return one.size == other.size && one.stream == other.stream &&
         one.private_pool == other.private_pool && one.refused == other.refused &&
         (!a.asker(in_a).known() || !b.asker(in_b).known() || a.place(in_a) == b.place(in_b));
}

// The first difference in this step; unset where all requests are the same.
std::optional<RequestDifference> first_in(std::size_t step, const Requests& a, const Requests& b) {
  const auto& in_a = a.of_step(step);
  const auto& in_b = b.of_step(step);
  for (std::size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i) {
    const bool both = i < in_a.size() && i < in_b.size();
    if (both && same(a, in_a[i], b, in_b[i])) continue;
    RequestDifference difference{step, i + 1, std::nullopt, std::nullopt};
    if (i < in_a.size()) difference.a = a.made(in_a[i]);
    if (i < in_b.size()) difference.b = b.made(in_b[i]);
    return difference;
  }
  return std::nullopt;
}

// What the program does, so that the same program gives the same numbers: which request a free
// concerns, counted from the beginning; blocks from before it by slot.
std::vector<std::uint64_t> calls(const Trace& trace) {
  constexpr std::uint64_t kRequest = UINT64_MAX;
  constexpr std::uint64_t kBefore = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> request_of(trace.slot_count);
  for (Slot slot = 0; slot < trace.slot_count; ++slot) request_of[slot] = kBefore + slot;
  std::vector<std::uint64_t> calls;
  std::uint64_t requests = 0;
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    const Op op = trace.ops[i];
    if (is_request(op)) {
      if (op == Op::allocate) request_of[trace.slots[i]] = requests;
      ++requests;
      calls.push_back(kRequest);
    } else if (op == Op::free || op == Op::free_requested) {
      calls.push_back(request_of[trace.slots[i]]);
    }
  }
  return calls;
}

}  // namespace

RequestsDiff diff_requests(const CommonPlaces& places, const RecordedTrace& a, const Steps& a_steps,
                           const RecordedTrace& b, const Steps& b_steps) {
  const bool aligned = !a_steps.begins.empty() && !b_steps.begins.empty();
  const Requests of_a(a, Side::a, places, aligned ? a_steps : Steps{});
  const Requests of_b(b, Side::b, places, aligned ? b_steps : Steps{});
  RequestsDiff diff;
  diff.a_requests = of_a.count();
  diff.b_requests = of_b.count();
  for (std::size_t step = 0; step < std::max(of_a.steps(), of_b.steps()); ++step) {
    const auto first = first_in(step, of_a, of_b);
    if (!first) continue;
    if (!diff.first) diff.first = first;
    const bool as_many = of_a.of_step(step).size() == of_b.of_step(step).size();
    if (as_many && !diff.first_in_equal_step) diff.first_in_equal_step = first;
  }
  const auto name = [](std::optional<RequestDifference>& found, const Places& of,
                       const RecordedTrace& from,
                       std::optional<RequestMade> RequestDifference::*side) {
    if (!found || !((*found).*side)) return;
    RequestMade& made = *((*found).*side);
    const Asker asker = asker_of(from.trace, made.event);
    if (asker.known()) made.place = of.name_of(asker);
  };
  const Places places_a(a.recording);
  const Places places_b(b.recording);
  for (auto* found : {&diff.first, &diff.first_in_equal_step}) {
    name(*found, places_a, a, &RequestDifference::a);
    name(*found, places_b, b, &RequestDifference::b);
  }
  diff.same_frees = diff.first || calls(a.trace) == calls(b.trace);
  return diff;
}

CommonPlaces::CommonPlaces(const RecordedTrace& a, const RecordedTrace& b, PlaceBy by)
    : by_stack_(says_who_asked(a.trace) && says_who_asked(b.trace)),
      places_{Places(a.recording, by), Places(b.recording, by)} {
  if (!by_stack_) {
    pairs_ = size_classes();
    return;
  }
  const PlaceSizes before = sizes_in(a.trace, places_[0]);
  const PlaceSizes now = sizes_in(b.trace, places_[1]);
  pairs_ = match_places(names_of(before), names_of(now));
  join_renamed(pairs_, before, now);
  of_place_ = {numbers(places_[0], pairs_, &PlacePair::before),
               numbers(places_[1], pairs_, &PlacePair::now)};
}

std::size_t CommonPlaces::of(Side side, const Asker& asker, Bytes size) const {
  if (!by_stack_) return static_cast<std::size_t>(std::bit_width(size));
  const auto at = static_cast<std::size_t>(side);
  return of_place_[at][places_[at].of(asker)];
}

}  // namespace memreplay
