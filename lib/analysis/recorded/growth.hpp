#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/recorded/live_blocks.hpp"

namespace memreplay {

/// Requested bytes by what asked for them, at one moment of a run.
struct PlacesHeld {
  enum class By { stack, size };  ///< by size of the request where no stack is recorded
  By by = By::stack;
  std::map<std::string, Bytes> places;  ///< "model.py:41 forward", "requests of [4 MiB, 8 MiB)"
  Bytes others = 0;                     ///< places that are left out, each at most as large as any

  friend bool operator==(const PlacesHeld&, const PlacesHeld&) = default;
};

/// What stands for the place of a request without a stack: "requests of [4 MiB, 8 MiB)".
std::string size_class(Bytes size);

/// `live` are blocks of the trace, which is one of the recording. Nothing is left out.
PlacesHeld places_held(const Recording& recording, const Trace& trace,
                       const std::vector<LiveBlock>& live);

/// The largest `count`; of equals the first by name.
PlacesHeld largest_places(const PlacesHeld& held, std::size_t count);

struct PlaceGrowth {
  std::string place;
  std::optional<Bytes> before;  ///< nothing: it was not among the largest, or partly not
  Bytes now = 0;
  Bytes grown = 0;  ///< without `before` the most that it can be
};

/// The places that certainly hold more than before, most first. Lines that moved with their
/// function are matched in order; where lines came or went as well, the function counts as one
/// place. Nothing where one is by stack, the other by size.
std::vector<PlaceGrowth> growth(const PlacesHeld& before, const PlacesHeld& now);

}  // namespace memreplay
