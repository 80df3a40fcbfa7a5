#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

/// What answers to several questions hold of a recording.
namespace memreplay {

/// A span of a trace with a name: the events in [from, to).
struct Phase {
  std::string name;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t depth = 0;  ///< scopes around it

  friend bool operator==(const Phase&, const Phase&) = default;
};

/// Where the steps of a program (of a training, of a server) begin.
struct Steps {
  enum class Source { none, markers, annotations, repetition };
  Source source = Source::none;
  std::vector<std::uint64_t> begins;  ///< first events, ascending

  /// The step, counted from 1, in which the event lies; 0 before the first one.
  std::uint64_t of(std::uint64_t event) const;
};

/// What a code place holds.
struct PlaceSum {
  std::string place;
  Bytes bytes = 0;  ///< requested
  std::uint64_t blocks = 0;
};

/// Code places of two versions of a program that are the same place in it.
struct PlacePair {
  std::string function;  ///< "model.py forward"; a place without a line is one itself
  std::string name;      ///< the later one; the function where several lines count as one
  std::vector<std::string> before;  ///< empty: it is new
  std::vector<std::string> now;     ///< empty: it is gone
};

/// Requested bytes by what asked for them, at one moment of a run.
struct PlacesHeld {
  enum class By { stack, size };  ///< by size of the request where no stack is recorded
  By by = By::stack;
  std::map<std::string, Bytes> places;  ///< "model.py:41 forward", "requests of [4 MiB, 8 MiB)"
  Bytes others = 0;                     ///< places that are left out, each at most as large as any

  friend bool operator==(const PlacesHeld&, const PlacesHeld&) = default;
};

/// A code place that holds more than before.
struct PlaceGrowth {
  std::string place;
  std::optional<Bytes> before;  ///< nothing: it was not among the largest, or partly not
  Bytes now = 0;
  Bytes grown = 0;  ///< without `before` the most that it can be
};

}  // namespace memreplay
