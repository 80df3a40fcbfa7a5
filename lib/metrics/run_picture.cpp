#include "metrics/run_picture.hpp"

#include <algorithm>

namespace memreplay {
namespace {

constexpr std::size_t kMostPerBucket = 4;

}  // namespace

ReducedCurve::ReducedCurve(std::uint64_t events, std::size_t most_points)
    : events_(std::max<std::uint64_t>(events, 1)),
      buckets_(std::clamp<std::uint64_t>(most_points / kMostPerBucket, 1, events_)) {}

void ReducedCurve::add(std::uint64_t event, std::int64_t value, std::int64_t highest_within,
                       std::int64_t beside) {
  const bool first = changes_ == 0;
  if (highest_within > value && (first || highest_within > value_)) {
    change({event, highest_within, beside});
  }
  if (first || value != value_) change({event, value, beside});
}

// Events and buckets both fit in 64 bits, their product does not.
std::uint64_t ReducedCurve::behind_bucket_of(std::uint64_t event) const {
  const auto bucket = static_cast<unsigned __int128>(event) * buckets_ / events_;
  return static_cast<std::uint64_t>(((bucket + 1) * events_ + buckets_ - 1) / buckets_);
}

void ReducedCurve::change(const CurvePoint& point) {
  const Change change{point, changes_++};
  value_ = point.value;
  if (point.event >= next_bucket_) {
    if (open_) close(*open_, closed_);
    open_.reset();
    next_bucket_ = behind_bucket_of(point.event);
  }
  if (!open_) {
    open_ = Bucket{change, change, change, change};
    return;
  }
  if (point.value < open_->lowest.point.value) open_->lowest = change;
  if (point.value > open_->highest.point.value) open_->highest = change;
  open_->last = change;
}

void ReducedCurve::close(const Bucket& bucket, std::vector<CurvePoint>& points) {
  std::array<Change, kMostPerBucket> kept = {bucket.first, bucket.lowest, bucket.highest,
                                             bucket.last};
  std::ranges::sort(kept, {}, &Change::number);
  const auto same = [](const Change& a, const Change& b) { return a.number == b.number; };
  const auto doubles = std::unique(kept.begin(), kept.end(), same);
  for (auto change = kept.begin(); change != doubles; ++change) {
    points.push_back(change->point);
  }
}

std::vector<CurvePoint> ReducedCurve::points() const {
  std::vector<CurvePoint> points = closed_;
  if (open_) close(*open_, points);
  return points;
}

}  // namespace memreplay
