#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

struct CurvePoint {
  std::uint64_t event = 0;
  std::int64_t value = 0;
  std::int64_t beside = 0;  ///< value of the curve laid beside this one, at the same moment

  friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};

/// A step curve over the events of a trace, reduced while it is made. The events are cut into equal
/// buckets, and of each the first, lowest, highest and last change is kept (of equals the first):
/// so the curve's highest and lowest value, and where they are, are always kept, and a curve that
/// changes at most once per bucket is kept whole. O(1) an event, O(most points) memory.
class ReducedCurve {
 public:
  /// `events`: how many the trace has. `most_points`: at least 4.
  ReducedCurve(std::uint64_t events, std::size_t most_points);

  /// Adds an event below `events`, in ascending order; those that change nothing may be left out.
  /// `value` is the one after the event, `highest_within` the highest during it: where that lies
  /// above what came before and after, it is a point of its own, ahead of that of `value`.
  /// `beside` is carried along, so that another curve can be drawn on the points of this one.
  void add(std::uint64_t event, std::int64_t value, std::int64_t highest_within,
           std::int64_t beside = 0);

  /// The points by ascending event; no two neighbours have equal values, unless the buckets between
  /// them came back to one.
  std::vector<CurvePoint> points() const;

 private:
  struct Change {
    CurvePoint point;
    std::uint64_t number = 0;  ///< its number among all changes
  };
  struct Bucket {
    Change first, lowest, highest, last;
  };

  void change(const CurvePoint& point);
  /// The first event of the bucket after that of `event`.
  std::uint64_t behind_bucket_of(std::uint64_t event) const;
  static void close(const Bucket& bucket, std::vector<CurvePoint>& points);

  std::uint64_t events_;
  std::uint64_t buckets_;
  std::uint64_t next_bucket_ = 0;  ///< its first event
  std::uint64_t changes_ = 0;
  std::int64_t value_ = 0;
  std::optional<Bucket> open_;
  std::vector<CurvePoint> closed_;
};

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
