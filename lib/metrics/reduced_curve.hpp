#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

}  // namespace memreplay
