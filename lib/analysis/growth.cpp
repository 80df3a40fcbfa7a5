#include "analysis/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/text.hpp"

namespace memreplay {
namespace {

std::string size_class(Bytes size) {
  if (size == 0) return "requests of 0 B";
  const Bytes from = std::bit_floor(size);
  return fmt::format("requests of [{}, {})", human_size(from), human_size(from * 2));
}

struct Line {
  std::uint64_t number = 0;
  std::string place;
  Bytes bytes = 0;
};

// The places of one function, by line; "model.py forward" is what they share.
using Functions = std::map<std::string, std::vector<Line>>;

Functions by_function(const PlacesHeld& held) {
  Functions functions;
  for (const auto& [place, bytes] : held.places) {
    std::string function = place;
    std::uint64_t number = 0;
    const std::size_t colon = place.find(':');
    const std::size_t blank = place.find(' ', colon);
    if (blank != std::string::npos) {
      if (const auto line = parse_whole(place.substr(colon + 1, blank - colon - 1))) {
        function.erase(colon, blank - colon);
        number = *line;
      }
    }
    functions[function].push_back({number, place, bytes});
  }
  for (auto& [function, lines] : functions) std::ranges::sort(lines, {}, &Line::number);
  return functions;
}

Bytes sum(const std::vector<Line>& lines) {
  Bytes bytes = 0;
  for (const Line& line : lines) bytes += line.bytes;
  return bytes;
}

class Comparison {
 public:
  explicit Comparison(const PlacesHeld& before) : others_(before.others) {
    for (const auto& [place, bytes] : before.places) smallest_ = std::min(smallest_, bytes);
  }

  void compare(const std::string& function, const std::vector<Line>& before,
               const std::vector<Line>& now) {
    const auto named = [&](const Line& line) {
      return std::ranges::find(now, line.place, &Line::place) != now.end();
    };
    if (std::ranges::all_of(before, named)) {
      for (const Line& line : now) {
        const auto same = std::ranges::find(before, line.place, &Line::place);
        if (same != before.end()) {
          add(line.place, same->bytes, line.bytes);
        } else {
          add_new(line.place, 0, line.bytes, 1);
        }
      }
    } else if (before.size() == now.size()) {
      for (std::size_t i = 0; i < now.size(); ++i) {
        add(now[i].place, before[i].bytes, now[i].bytes);
      }
    } else if (now.size() < before.size()) {
      add(function, sum(before), sum(now));
    } else {
      add_new(function, sum(before), sum(now), now.size() - before.size());
    }
  }

  std::vector<PlaceGrowth> take() {
    std::ranges::sort(grown_, [](const PlaceGrowth& a, const PlaceGrowth& b) {
      return std::tie(b.grown, a.place) < std::tie(a.grown, b.place);
    });
    return std::move(grown_);
  }

 private:
  void add(const std::string& place, Bytes before, Bytes now) {
    if (now > before) grown_.push_back({place, before, now, now - before});
  }
  // `lines` of it are not among those kept of the baseline: they may have been there all the same,
  // each at most as large as the smallest that was kept.
  void add_new(const std::string& place, Bytes known, Bytes now, std::size_t lines) {
    if (others_ == 0) return add(place, known, now);
    const Bytes unknown = smallest_ < others_ / lines ? smallest_ * lines : others_;
    if (now > known + unknown) grown_.push_back({place, std::nullopt, now, now - known});
  }

  Bytes others_;
  Bytes smallest_ = UINT64_MAX;
  std::vector<PlaceGrowth> grown_;
};

}  // namespace

PlacesHeld places_held(const Recording& recording, const Trace& trace,
                       const std::vector<LiveBlock>& live) {
  PlacesHeld held;
  const bool stacks = std::ranges::any_of(trace.stacks, [](std::uint32_t s) { return s != 0; });
  if (stacks) {
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
  const Functions old = by_function(before);
  Comparison comparison(before);
  for (const auto& [function, lines] : by_function(now)) {
    const auto found = old.find(function);
    comparison.compare(function, found == old.end() ? std::vector<Line>() : found->second, lines);
  }
  return comparison.take();
}

}  // namespace memreplay
