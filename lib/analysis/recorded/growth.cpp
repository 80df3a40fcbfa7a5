#include "analysis/recorded/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <tuple>

#include "analysis/recorded/place_matching.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::set<std::string> names(const PlacesHeld& held) {
  std::set<std::string> names;
  for (const auto& [place, bytes] : held.places) names.insert(place);
  return names;
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

}  // namespace

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
  const std::vector<PlacePair> pairs = match_places(names(before), names(now));
  for (auto from = pairs.begin(); from != pairs.end();) {
    const auto to = std::ranges::find_if(
        from, pairs.end(), [&](const PlacePair& pair) { return pair.function != from->function; });
    comparison.compare({from, to});
    from = to;
  }
  return comparison.take();
}

}  // namespace memreplay
