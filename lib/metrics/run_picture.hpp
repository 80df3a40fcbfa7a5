#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "metrics/reduced_curve.hpp"

namespace memreplay {

/// A replay's curves and events, to be drawn. Moment `m` is right after event `m - 1`, so the first
/// one, `from`, is before anything was replayed. Points of curves have their moment as `event`.
struct RunPicture {
  /// At an event, before whose moment the memory was as it says.
  struct Oom {
    std::uint64_t event = 0;
    std::uint64_t count = 1;
    std::optional<Bytes> requested;  ///< unset: not by a request, or its trace is in a file
    Bytes free = 0;                  ///< inside what the strategy holds, and outside
    Bytes largest_free = 0;
  };
  struct Retries {
    std::uint64_t event = 0;
    std::uint64_t count = 1;
  };
  /// Memory held from the device, for the moments in [from, to).
  struct Segment {
    std::uint64_t address = 0;
    Bytes bytes = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  std::uint64_t from = 0;
  std::uint64_t to = 0;  ///< the last moment
  /// At which most is reserved; of several moments the first one with most allocated.
  std::uint64_t fullest = 0;
  std::vector<CurvePoint> requested;      ///< bytes
  std::vector<CurvePoint> allocated;      ///< bytes, beside those reserved
  std::vector<CurvePoint> reserved;       ///< bytes, beside those allocated
  std::vector<CurvePoint> fragmentation;  ///< millionths: 1 - largest free / all free inside
  std::vector<Oom> ooms;                  ///< the first ones
  std::vector<Retries> retries;           ///< the first ones
  std::vector<Segment> segments;          ///< the largest, by `from`
  std::uint64_t ooms_left_out = 0;
  std::uint64_t retries_left_out = 0;
  std::uint64_t segments_left_out = 0;
};

}  // namespace memreplay
