#include "analysis/diff/common_places.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "analysis/recorded/growth.hpp"
#include "analysis/recorded/places.hpp"

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

std::set<std::string> names_in(const Trace& trace, const Places& places) {
  std::vector<bool> used(places.size());
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    if (is_request(trace.ops[i])) used[places.of(asker_of(trace, i))] = true;
  }
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::free) used[places.of(asker_of(trace, block))] = true;
    }
  }
  std::set<std::string> names;
  for (std::uint32_t place = 0; place < used.size(); ++place) {
    if (used[place]) names.insert(places.name(place));
  }
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

}  // namespace

CommonPlaces::CommonPlaces(const RecordedTrace& a, const RecordedTrace& b, PlaceBy by)
    : by_stack_(says_who_asked(a.trace) && says_who_asked(b.trace)),
      places_{Places(a.recording, by), Places(b.recording, by)} {
  if (!by_stack_) {
    pairs_ = size_classes();
    return;
  }
  pairs_ = match_places(names_in(a.trace, places_[0]), names_in(b.trace, places_[1]));
  of_place_ = {numbers(places_[0], pairs_, &PlacePair::before),
               numbers(places_[1], pairs_, &PlacePair::now)};
}

std::size_t CommonPlaces::of(Side side, const Asker& asker, Bytes size) const {
  if (!by_stack_) return static_cast<std::size_t>(std::bit_width(size));
  const auto at = static_cast<std::size_t>(side);
  return of_place_[at][places_[at].of(asker)];
}

}  // namespace memreplay
