#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// What an edit of a program did to its trace.
struct EditFacts {
  std::string edit;                       ///< as it was given: "checkpoint:function=attn"
  std::uint64_t blocks = 0;               ///< how many it changed
  Bytes bytes = 0;                        ///< requested by them before
  Bytes recomputed_bytes = 0;             ///< asked for a second time
  std::uint64_t recomputed_requests = 0;  ///< likewise
  Bytes largest_segment = 0;              ///< the most bytes that die early in one stretch of code
  Bytes moved_bytes = 0;                  ///< to another memory and back, each way counted
  double moving_seconds = 0;              ///< at the bandwidth that was given
  Bytes other_memory_peak = 0;            ///< held there at most
  std::vector<std::string> remarks;       ///< sentences
};

/// A recording from which a program at another value of its parameter was predicted.
struct PredictionSource {
  std::string path;
  std::int64_t value = 0;
  std::uint64_t requests = 0;
  /// How many requests of the recording that gave the order of events have their like here.
  std::uint64_t paired = 0;
  Bytes unpaired_bytes = 0;
  /// The first events at which that recording and this one part, in this order.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> parts_at = {};
  std::string place = {};  ///< where it parts: "model.py:41 forward"; empty: not known
};

/// A recording that tells nothing about the program's need.
struct LeftOutSource {
  std::string path;
  std::int64_t value = 0;
  std::uint64_t oom = 0;  ///< the event at which it ends, before one whole step is known
};

/// How a program at another value of its parameter was predicted.
struct PredictionFacts {
  std::string name;                            ///< the parameter's name
  std::int64_t value = 0;                      ///< asked for
  std::vector<PredictionSource> sources = {};  ///< by value
  std::vector<LeftOutSource> left_out = {};
  std::size_t structure = 0;      ///< the source that gave the order of events
  std::uint64_t without_law = 0;  ///< requests whose sizes are guessed
  std::uint64_t open_sizes = 0;   ///< blocks whose sizes may follow more than one law
  std::uint64_t staged_sums = 0;  ///< sums of rows that get or lose staging at this value

  /// It was recorded at that very value.
  bool recorded() const { return sources[structure].value == value; }
  /// A value is so many times as far as the farthest recording; 1: not beyond them.
  double times_beyond(std::int64_t at) const {
    const auto times = [](std::int64_t a, std::int64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    return std::max({1.0, times(at, sources.back().value), times(sources.front().value, at)});
  }
  /// Recordings take different courses.
  bool parts() const {
    for (const PredictionSource& source : sources) {
      if (source.parts_at) return true;
    }
    return false;
  }
};

}  // namespace memreplay
