#include "extensions/diff/recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "extensions/diff/requests.hpp"
#include "program/steps.hpp"
#include "run/run.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

struct Level {
  Bytes requested = 0;
  std::optional<Bytes> allocated;
  std::optional<Bytes> reserved;

  Bytes held() const { return allocated.value_or(requested); }
};

/// Takes the levels after each event apart by step.
class Spans {
 public:
  Spans(const Trace& trace, const Steps& steps, Level start)
      : trace_(trace), steps_(steps), last_(start) {
    begin(whole_, 0);
    spans_.emplace_back();
    begin(spans_.back(), 0);
  }

  void note(std::uint64_t event, const Level& level) {
    begin_steps_up_to(event);
    take(whole_, level, event + 1);
    take(spans_.back(), level, event + 1);
    last_ = level;
  }

  void finish(SidePeaks& peaks) {
    begin_steps_up_to(trace_.size());
    whole_.to = spans_.back().to = trace_.size();
    peaks.whole = whole_;
    peaks.spans = std::move(spans_);
  }

 private:
  void begin_steps_up_to(std::uint64_t event) {
    while (spans_.size() <= steps_.begins.size() && steps_.begins[spans_.size() - 1] <= event) {
      const std::uint64_t from = steps_.begins[spans_.size() - 1];
      spans_.back().to = from;
      spans_.emplace_back();
      begin(spans_.back(), from);
    }
  }

  void begin(SpanPeak& span, std::uint64_t from) const {
    span = {from, from, last_.requested, last_.allocated, last_.reserved, from};
  }

  static void take(SpanPeak& span, const Level& level, std::uint64_t behind) {
    const Bytes most = span.allocated.value_or(span.requested);
    if (level.held() > most) span.behind = behind;
    span.requested = std::max(span.requested, level.requested);
    span.allocated = std::max(span.allocated, level.allocated);
    span.reserved = std::max(span.reserved, level.reserved);
  }

  const Trace& trace_;
  const Steps& steps_;
  Level last_;
  SpanPeak whole_;
  std::vector<SpanPeak> spans_;
};

class PeakWatch final : public Watcher {
 public:
  PeakWatch(const Trace& trace, const Steps& steps) : trace_(trace), steps_(steps) {}

  void on_event(const EventState& state, const Strategy&) override {
    if (!spans_) spans_.emplace(trace_, steps_, before(state));
    spans_->note(state.event, {state.requested, state.allocated, state.reserved});
    if (trace_.ops[state.event] == Op::allocate && !state.placement && trace_.sizes[state.event]) {
      unserved.push_back(state.event);
    }
  }

  void finish(SidePeaks& peaks) {
    if (!spans_) spans_.emplace(trace_, steps_, Level{RecordedLevels(trace_).requested(), {}, {}});
    spans_->finish(peaks);
  }

  std::vector<std::uint64_t> unserved;

 private:
  // What was held before the first event, from what is held after it.
  Level before(const EventState& state) const {
    Level level{state.requested, state.allocated, 0};
    if (!state.placement) return level;
    const Op op = trace_.ops[state.event];
    if (op == Op::allocate) {
      level.requested -= trace_.sizes[state.event];
      *level.allocated -= state.placement->size;
    } else if (op == Op::free || op == Op::free_requested) {
      level.requested += trace_.sizes[state.event];
      *level.allocated += state.placement->size;
    }
    return level;
  }

  const Trace& trace_;
  const Steps& steps_;
  std::optional<Spans> spans_;
};

}  // namespace

std::vector<LiveBlock> live_at(const SidePeaks& peaks, const SpanPeak& span, const Trace& trace) {
  std::vector<LiveBlock> live = live_before(trace, span.behind);
  std::erase_if(live, [&](const LiveBlock& block) {
    return block.born && std::ranges::binary_search(peaks.unserved, *block.born);
  });
  return live;
}

SidePeaks recorded_peaks(const Subject& subject) {
  const Trace& trace = subject.trace();
  SidePeaks peaks{.steps = steps_of(subject.recording(), trace)};
  const bool reserved = shows_reserved(trace);
  RecordedLevels levels(trace);
  const auto level = [&] {
    return Level{
        levels.requested(), {}, reserved ? std::optional(levels.reserved()) : std::nullopt};
  };
  Spans spans(trace, peaks.steps, level());
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    levels.play(i);
    spans.note(i, level());
  }
  spans.finish(peaks);
  return peaks;
}

SidePeaks replayed_peaks(const Subject& subject, const StrategySpec& spec, const Setup& setup,
                         const Control& control) {
  const Trace& trace = subject.trace();
  SidePeaks peaks{.steps = steps_of(subject.recording(), trace)};
  PeakWatch watch(trace, peaks.steps);
  const LateStart late(subject, replay_options(trace, setup, control));
  const OpenDevice device = simulated(sized_for(subject, setup));
  peaks.run = run(subject, spec, device, setup, late, &watch, control);
  peaks.run->device = {};  // both sides have the same: the answer names it
  watch.finish(peaks);
  peaks.unserved = std::move(watch.unserved);
  peaks.whole.reserved = peaks.run->metrics.peak_reserved;  // also from within an event
  return peaks;
}

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
