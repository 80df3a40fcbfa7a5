#include "program/live_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "core/text.hpp"
#include "program/places.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

struct Branch {
  PlaceSum sum;
  std::map<std::string, Branch> calls;
};

std::vector<CallNode> sorted(std::map<std::string, Branch>& branches) {
  std::vector<CallNode> nodes;
  for (auto& [place, branch] : branches) {
    branch.sum.place = place;
    nodes.push_back({branch.sum, sorted(branch.calls)});
  }
  std::ranges::sort(nodes, [](const CallNode& a, const CallNode& b) {
    return std::tie(b.sum.bytes, a.sum.place) < std::tie(a.sum.bytes, b.sum.place);
  });
  return nodes;
}

class ProfileOf {
 public:
  ProfileOf(const Recording& recording, const Places& places)
      : recording_(recording), places_(places) {}

  void request(const Asker& asker, Bytes size) {
    ProfiledStack& sums = sums_[asker];
    sums.requested += size;
    ++sums.requests;
  }
  void live(const Asker& asker, Bytes size) {
    ProfiledStack& sums = sums_[asker];
    sums.live += size;
    ++sums.live_blocks;
  }

  StackProfile profile() {
    for (auto& [asker, sums] : sums_) {
      ProfiledStack& stack = profile_.stacks.emplace_back(std::move(sums));
      if (asker.stack == 0) {
        stack.frames = {number({places_.name_of(asker), "", 0})};
        continue;
      }
      for (const std::uint32_t frame : recording_.stacks[asker.stack]) {
        stack.frames.push_back(number_of(recording_.frames[frame]));
      }
    }
    return std::move(profile_);
  }

 private:
  std::uint32_t number_of(const Frame& frame) {
    return number({recording_.texts[frame.name], recording_.texts[frame.file],
                   frame.line == kNoLine ? 0 : frame.line});
  }
  std::uint32_t number(ProfiledFrame frame) {
    const auto next = static_cast<std::uint32_t>(profile_.frames.size());
    const auto [at, is_new] = numbers_.emplace(std::move(frame), next);
    if (is_new) profile_.frames.push_back(at->first);
    return at->second;
  }

  const Recording& recording_;
  const Places& places_;
  std::map<Asker, ProfiledStack> sums_;
  std::map<ProfiledFrame, std::uint32_t> numbers_;
  StackProfile profile_;
};

std::set<std::string> names(const PlacesHeld& held) {
  std::set<std::string> names;
  for (const auto& [place, bytes] : held.places) names.insert(place);
  return names;
}

PlaceSizes sizes(const PlacesHeld& held) {
  PlaceSizes sizes;
  for (const auto& [place, bytes] : held.places) sizes[place][bytes] = 1;
  return sizes;
}

Bytes sum(const PlacesHeld& held, const std::vector<std::string>& places) {
  Bytes bytes = 0;
  for (const std::string& place : places) bytes += held.places.at(place);
  return bytes;
}

class Comparison {
 public:
  Comparison(const PlacesHeld& before, const PlacesHeld& now) : before_(before), now_(now) {
    for (const auto& [place, bytes] : before.places) smallest_ = std::min(smallest_, bytes);
  }

  // The pairs of one function. Where lines went, which of them grew is not certain.
  void compare(std::span<const PlacePair> pairs) {
    PlacePair all{.function = pairs.front().function, .name = pairs.front().function};
    for (const PlacePair& pair : pairs) {
      all.before.insert(all.before.end(), pair.before.begin(), pair.before.end());
      all.now.insert(all.now.end(), pair.now.begin(), pair.now.end());
    }
    const bool lines_went =
        std::ranges::any_of(pairs, [](const PlacePair& pair) { return pair.now.empty(); });
    if (lines_went) return compare(all);
    for (const PlacePair& pair : pairs) compare(pair);
  }

  std::vector<PlaceGrowth> take() {
    std::ranges::sort(grown_, [](const PlaceGrowth& a, const PlaceGrowth& b) {
      return std::tie(b.grown, a.place) < std::tie(a.grown, b.place);
    });
    return std::move(grown_);
  }

 private:
  void compare(const PlacePair& pair) {
    const Bytes known = sum(before_, pair.before);
    const Bytes now = sum(now_, pair.now);
    const std::size_t lines =
        pair.now.size() - std::min(pair.now.size(), pair.before.size());  // more than before
    if (now <= known) return;
    if (lines == 0 || before_.others == 0) {
      grown_.push_back({pair.name, known, now, now - known});
      return;
    }
    // They may have been there all the same, but were not kept of the baseline: each at most as
    // large as the smallest that was.
    const Bytes unknown = smallest_ < before_.others / lines ? smallest_ * lines : before_.others;
    if (now > known + unknown) grown_.push_back({pair.name, std::nullopt, now, now - known});
  }

  const PlacesHeld& before_;
  const PlacesHeld& now_;
  Bytes smallest_ = UINT64_MAX;
  std::vector<PlaceGrowth> grown_;
};

// Age order: from before the trace first, by slot, then by event.
auto age_of(const LiveBlock& block) {
  return std::make_tuple(block.born.has_value(), block.born.value_or(0), block.slot);
}

}  // namespace

std::vector<LiveBlock> live_before(const Trace& trace, std::uint64_t event) {
  std::vector<LiveBlock> by_slot(trace.slot_count);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      by_slot[block.slot] = {block.slot,   block.requested,        segment.stream,
                             segment.pool, asker_of(trace, block), std::nullopt};
    }
  }
  for (std::uint64_t i = 0; i < event; ++i) {
    const Slot slot = trace.slots[i];
    if (trace.ops[i] == Op::allocate) {
      const StreamPool lane = trace.lane(i);
      by_slot[slot] = {slot, trace.sizes[i], lane.stream, lane.pool, asker_of(trace, i), i};
    } else if (trace.ops[i] == Op::free || trace.ops[i] == Op::free_requested) {
      by_slot[slot].slot = kNoSlot;
    }
  }
  std::erase_if(by_slot, [](const LiveBlock& block) { return block.slot == kNoSlot; });
  std::ranges::sort(by_slot, {}, age_of);
  return by_slot;
}

std::uint64_t requested_peak(const Trace& trace) {
  RecordedLevels levels(trace);
  for (std::uint64_t i = 0; i < trace.size(); ++i) levels.play(i);
  const auto event = levels.peaks().live().event;
  return event ? *event + 1 : 0;
}

std::vector<PlaceSum> by_place(const std::vector<LiveBlock>& blocks, const Places& places) {
  std::vector<PlaceSum> sums(places.size());
  for (const LiveBlock& block : blocks) {
    PlaceSum& sum = sums[places.of(block.asker)];
    sum.bytes += block.requested;
    ++sum.blocks;
  }
  for (std::uint32_t i = 0; i < sums.size(); ++i) sums[i].place = places.name(i);
  std::erase_if(sums, [](const PlaceSum& sum) { return sum.blocks == 0; });
  std::ranges::sort(sums, [](const PlaceSum& a, const PlaceSum& b) {
    return std::tie(b.bytes, a.place) < std::tie(a.bytes, b.place);
  });
  return sums;
}

std::vector<CallNode> call_tree(const std::vector<LiveBlock>& blocks, const Places& places) {
  std::map<Asker, PlaceSum> sums;
  for (const LiveBlock& block : blocks) {
    PlaceSum& sum = sums[block.asker];
    sum.bytes += block.requested;
    ++sum.blocks;
  }
  std::map<std::string, Branch> roots;
  for (const auto& [asker, sum] : sums) {
    std::map<std::string, Branch>* level = &roots;
    for (const std::string& place : places.calls(asker)) {
      Branch& branch = (*level)[place];
      branch.sum.bytes += sum.bytes;
      branch.sum.blocks += sum.blocks;
      level = &branch.calls;
    }
  }
  return sorted(roots);
}

StackProfile stack_profile(const Recording& recording, const Trace& trace, const Places& places,
                           const std::vector<LiveBlock>& live, std::optional<std::uint64_t> event) {
  ProfileOf profile(recording, places);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      profile.request(asker_of(trace, block), block.requested);
    }
  }
  for (std::uint64_t i = 0; event && i <= *event; ++i) {
    if (trace.ops[i] == Op::allocate) profile.request(asker_of(trace, i), trace.sizes[i]);
  }
  for (const LiveBlock& block : live) profile.live(block.asker, block.requested);
  return profile.profile();
}

std::string size_class(Bytes size) {
  if (size == 0) return "requests of 0 B";
  const Bytes from = std::bit_floor(size);
  return fmt::format("requests of [{}, {})", human_size(from), human_size(from * 2));
}

PlacesHeld places_held(const Recording& recording, const Trace& trace,
                       const std::vector<LiveBlock>& live) {
  PlacesHeld held;
  if (says_who_asked(trace)) {
    for (const PlaceSum& place : by_place(live, Places(recording))) {
      held.places[place.place] = place.bytes;
    }
    return held;
  }
  held.by = PlacesHeld::By::size;
  for (const LiveBlock& block : live) held.places[size_class(block.requested)] += block.requested;
  return held;
}

PlacesHeld largest_places(const PlacesHeld& held, std::size_t count) {
  std::vector<std::pair<std::string, Bytes>> places(held.places.begin(), held.places.end());
  std::ranges::stable_sort(places,
                           [](const auto& a, const auto& b) { return b.second < a.second; });
  PlacesHeld largest{held.by, {}, held.others};
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i < count) {
      largest.places.insert(places[i]);
    } else {
      largest.others += places[i].second;
    }
  }
  return largest;
}

std::vector<PlaceGrowth> growth(const PlacesHeld& before, const PlacesHeld& now) {
  if (before.by != now.by) return {};
  Comparison comparison(before, now);
  std::vector<PlacePair> pairs = match_places(names(before), names(now));
  if (before.by == PlacesHeld::By::stack) join_renamed(pairs, sizes(before), sizes(now));
  for (auto from = pairs.begin(); from != pairs.end();) {
    const auto to = std::ranges::find_if(
        from, pairs.end(), [&](const PlacePair& pair) { return pair.function != from->function; });
    comparison.compare({from, to});
    from = to;
  }
  return comparison.take();
}

}  // namespace memreplay
