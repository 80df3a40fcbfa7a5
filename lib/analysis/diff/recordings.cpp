#include "analysis/diff/recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/diff/requests.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

// Place, private pool, stream.
using Group = std::tuple<std::size_t, bool, StreamIndex>;

class Grouping {
 public:
  explicit Grouping(const CommonPlaces& places) : places_(places) {}

  void add(Side side, const std::vector<LiveBlock>& live) {
    for (const LiveBlock& block : live) {
      const std::size_t place = places_.of(side, block.asker, block.requested);
      SizeDiff& size = groups_[{place, block.pool != 0, block.stream}][block.requested];
      size.size = block.requested;
      ++(side == Side::a ? size.a_blocks : size.b_blocks);
    }
  }

  std::vector<PlaceDiff> take() const {
    std::vector<PlaceDiff> diffs;
    for (const auto& [group, sizes] : groups_) {
      const auto& [place, private_pool, stream] = group;
      PlaceDiff diff{.place = places_.pair(place), .private_pool = private_pool, .stream = stream};
      for (const auto& [bytes, size] : sizes) {
        diff.a_bytes += bytes * size.a_blocks;
        diff.b_bytes += bytes * size.b_blocks;
        diff.a_blocks += size.a_blocks;
        diff.b_blocks += size.b_blocks;
        diff.sizes.push_back(size);
      }
      diffs.push_back(std::move(diff));
    }
    return diffs;
  }

 private:
  const CommonPlaces& places_;
  std::map<Group, std::map<Bytes, SizeDiff>> groups_;
};

void match(BlockSum& sum, Bytes size, std::uint64_t blocks) {
  sum.blocks += blocks;
  sum.bytes += size * blocks;
}

SpanPeak peak_of(const SidePeaks& peaks, const Subject& subject,
                 std::optional<std::uint64_t> at_step) {
  if (!at_step) return peaks.whole;
  if (*at_step == 0 || *at_step >= peaks.spans.size()) {
    const std::size_t steps = peaks.spans.size() - 1;
    throw UsageError(
        fmt::format("--at-step is {}; {} has {}", *at_step, subject.recording().path,
                    steps == 0 ? "no steps that show" : fmt::format("steps 1 to {}", steps)));
  }
  return peaks.spans[*at_step];
}

}  // namespace

PlaceDiff::Change PlaceDiff::change() const {
  if (a_blocks == 0) return Change::only_b;
  if (b_blocks == 0) return Change::only_a;
  if (a_bytes != b_bytes) return a_bytes < b_bytes ? Change::grew : Change::shrank;
  const bool same = std::ranges::all_of(
      sizes, [](const SizeDiff& size) { return size.a_blocks == size.b_blocks; });
  return same ? Change::same : Change::other_sizes;
}

std::vector<PlaceDiff> diff_blocks(const CommonPlaces& places, const std::vector<LiveBlock>& live_a,
                                   const std::vector<LiveBlock>& live_b) {
  Grouping grouping(places);
  grouping.add(Side::a, live_a);
  grouping.add(Side::b, live_b);
  std::vector<PlaceDiff> diffs = grouping.take();
  const auto same = [](const PlaceDiff& d) { return d.change() == PlaceDiff::Change::same; };
  std::ranges::stable_sort(diffs, [&](const PlaceDiff& x, const PlaceDiff& y) {
    return std::make_tuple(same(x), y.difference()) < std::make_tuple(same(y), x.difference());
  });
  return diffs;
}

RecordingsDiff diff_recordings(const Subject& a, SidePeaks a_peaks, const Subject& b,
                               SidePeaks b_peaks, std::optional<std::uint64_t> at_step,
                               PlaceBy by) {
  RecordingsDiff diff;
  diff.place_by = by;
  diff.a_peak = peak_of(a_peaks, a, at_step);
  diff.b_peak = peak_of(b_peaks, b, at_step);
  diff.at_step = at_step.value_or(0);
  const RecordedTrace trace_a{a.recording(), a.trace()};
  const RecordedTrace trace_b{b.recording(), b.trace()};
  diff.a_has_stacks = says_who_asked(a.trace());
  diff.b_has_stacks = says_who_asked(b.trace());
  const CommonPlaces places(trace_a, trace_b, by);
  diff.places = diff_blocks(places, live_at(a_peaks, diff.a_peak, a.trace()),
                            live_at(b_peaks, diff.b_peak, b.trace()));
  for (const PlaceDiff& place : diff.places) {
    for (const SizeDiff& size : place.sizes) {
      const std::uint64_t both = std::min(size.a_blocks, size.b_blocks);
      match(diff.in_both, size.size, both);
      match(diff.only_a, size.size, size.a_blocks - both);
      match(diff.only_b, size.size, size.b_blocks - both);
    }
  }
  diff.requests = diff_requests(places, trace_a, a_peaks.steps, trace_b, b_peaks.steps);
  diff.a = std::move(a_peaks);
  diff.b = std::move(b_peaks);
  return diff;
}

}  // namespace memreplay
