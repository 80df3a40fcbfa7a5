#include "analysis/diff/peaks.hpp"

#include <algorithm>

#include "analysis/recorded/steps.hpp"
#include "analysis/run/run.hpp"
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

class PeakWatch final : public ReplayObserver, public RunWatcher {
 public:
  PeakWatch(const Trace& trace, const Steps& steps) : trace_(trace), steps_(steps) {}

  void begin_run(const Subject&, const Trial&, ObserverGroup& observers) override {
    observers.add(*this);
  }

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
  const OpenDevice device = simulated(sized_for(subject, setup.device));
  peaks.run = run(subject, spec, device, setup, late, &watch, control);
  peaks.run->device = {};  // both sides have the same: the answer names it
  watch.finish(peaks);
  peaks.unserved = std::move(watch.unserved);
  peaks.whole.reserved = peaks.run->metrics.peak_reserved;  // also from within an event
  return peaks;
}

}  // namespace memreplay
