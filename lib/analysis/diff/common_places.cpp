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
    if (is_request(trace.ops[i]))
      used[places.of(trace.stacks.empty() ? 0 : trace.stacks[i])] = true;
  }
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::free) used[places.of(block.stack)] = true;
    }
  }
  std::set<std::string> names;
  for (std::uint32_t place = 0; place < used.size(); ++place) {
    if (used[place]) names.insert(places.name(place));
  }
  return names;
}

std::vector<std::size_t> numbers(const Recording& recording, const Places& places,
                                 const std::vector<PlacePair>& pairs,
                                 std::vector<std::string> PlacePair::*side) {
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (const std::string& name : pairs[i].*side) by_name[name] = i;
  }
  std::vector<std::size_t> of_stack(std::max<std::size_t>(1, recording.stacks.size()));
  for (std::uint32_t stack = 0; stack < of_stack.size(); ++stack) {
    const auto found = by_name.find(places.name_of_stack(stack));
    if (found != by_name.end()) of_stack[stack] = found->second;
  }
  return of_stack;
}

}  // namespace

bool RecordedTrace::has_stacks() const {
  return std::ranges::any_of(trace.stacks, [](std::uint32_t stack) { return stack != 0; });
}

CommonPlaces::CommonPlaces(const RecordedTrace& a, const RecordedTrace& b)
    : by_stack_(a.has_stacks() && b.has_stacks()) {
  if (!by_stack_) {
    pairs_ = size_classes();
    return;
  }
  const Places of_a(a.recording);
  const Places of_b(b.recording);
  pairs_ = match_places(names_in(a.trace, of_a), names_in(b.trace, of_b));
  of_stack_ = {numbers(a.recording, of_a, pairs_, &PlacePair::before),
               numbers(b.recording, of_b, pairs_, &PlacePair::now)};
}

std::size_t CommonPlaces::of(Side side, std::uint32_t stack, Bytes size) const {
  if (!by_stack_) return static_cast<std::size_t>(std::bit_width(size));
  return of_stack_[static_cast<std::size_t>(side)][stack];
}

}  // namespace memreplay
