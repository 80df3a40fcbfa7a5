#include "run/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

using Times = std::pair<std::int64_t, std::int64_t>;

/// First and last; unset where the trace has none.
std::optional<Times> times_of(const Trace& trace) {
  if (trace.times_us.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(trace.times_us);
  return Times{first, last};
}

bool have_one_clock(const std::vector<SharingRecording>& recordings) {
  std::optional<Times> common;
  for (const SharingRecording& recording : recordings) {
    const auto times = times_of(recording.subject->trace());
    if (!times || times->first == 0) return false;  // one that was recorded has a date
    if (!common) common = *times;
    common = {std::max(common->first, times->first), std::min(common->second, times->second)};
  }
  return common && common->first < common->second;
}

TogetherOrder usual_order(const std::vector<SharingRecording>& recordings) {
  if (have_one_clock(recordings)) return TogetherOrder::recorded;
  const bool timed = std::ranges::all_of(recordings, [](const SharingRecording& recording) {
    return !recording.subject->trace().times_us.empty();
  });
  return timed ? TogetherOrder::start : TogetherOrder::share;
}

std::string words_for(TogetherOrder order) {
  switch (order) {
    case TogetherOrder::recorded:
      return "each at its recorded time";
    case TogetherOrder::start:
      return "each recording's clock starts at its first event";
    case TogetherOrder::share:
      break;
  }
  return "each is always at the same share of its events";
}

void check(const std::vector<SharingRecording>& recordings, TogetherOrder order) {
  if (recordings.size() < 2) {
    throw UsageError("--together: one recording; expected those of two processes or more");
  }
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const Subject& subject = *recordings[i].subject;
    if (subject.trace().times_us.empty() && order != TogetherOrder::share) {
      throw UsageError(
          fmt::format("{}: has no times; expected --order share", subject.recording().path));
    }
    if (subject.trace().streamed) {
      throw UsageError(fmt::format("{}: is too long for --together", subject.recording().path));
    }
    if (i == 0) continue;
    const Subject& before = *recordings[i - 1].subject;
    if (before.recording().path == subject.recording().path &&
        before.trace().gpu != subject.trace().gpu) {
      throw UsageError(fmt::format("--together: {} has several devices; expected --gpu N",
                                   subject.recording().path));
    }
  }
}

/// Puts recordings into one, whose numbers of everything lie after those of the one before.
class Joining {
 public:
  explicit Joining(TogetherOrder order) : order_(order) {
    made_.format = kTogetherFormat;
    made_.detail = "several processes on one device";
    made_.texts.emplace_back();
    made_.stacks.emplace_back();
  }

  void add(SharingRecording recording) {
    const Subject& subject = *recording.subject;
    const Trace& trace = subject.trace();
    parts_.push_back({.trace = &trace,
                      .slots = all_.slot_count,
                      .lanes = static_cast<std::uint16_t>(all_.lanes.size()),
                      .texts = static_cast<std::uint32_t>(made_.texts.size() - 1),
                      .stacks = static_cast<std::uint32_t>(made_.stacks.size() - 1)});
    const auto first_stream = static_cast<StreamIndex>(all_.streams.size());
    const auto first_pool = static_cast<PoolIndex>(all_.pools.size());
    if (all_.lanes.size() + trace.lanes.size() > UINT16_MAX ||
        all_.pools.size() + trace.pools.size() > UINT16_MAX) {
      throw UsageError("--together: more streams and pools than 65,535");
    }
    shared_.sharers.push_back({.path = subject.recording().path,
                               .subject = std::move(recording.subject),
                               .kept = std::move(recording.kept),
                               .first_stream = first_stream,
                               .first_pool = first_pool});
    for (const StreamPool lane : trace.lanes) {
      all_.lanes.push_back({static_cast<StreamIndex>(lane.stream + first_stream),
                            static_cast<PoolIndex>(lane.pool + first_pool)});
    }
    // A recording without streams asks on the first.
    const std::vector<std::uint64_t> first = {0};
    const auto& streams = trace.streams.empty() ? first : trace.streams;
    all_.streams.insert(all_.streams.end(), streams.begin(), streams.end());
    all_.pools.insert(all_.pools.end(), trace.pools.begin(), trace.pools.end());
    all_.slot_count += trace.slot_count;
    all_.gpu = trace.gpu;
    add_texts(subject.recording());
    add_start(trace);
    add_coverage(trace.coverage);
    made_.path += (made_.path.empty() ? "" : " + ") + subject.recording().path;
  }

  MadeRecordings finish() {
    play();
    // Each process has addresses and names of its own, and by share no time is everybody's.
    all_.addresses.clear();
    all_.ids.clear();
    if (order_ == TogetherOrder::share) all_.times_us.clear();
    add_calls();
    shared_.clock = words_for(order_);
    Origin origin;
    if (order_ != TogetherOrder::recorded) {
      origin.why_inexact = "the recordings do not say how their events interleave";
    }
    origin.shared = std::make_shared<const SharedDevice>(std::move(shared_));
    made_.traces.push_back(std::move(all_));
    MadeRecordings made;
    made.likeliest = {std::move(made_), std::make_shared<const Origin>(std::move(origin))};
    return made;
  }

 private:
  struct Part {
    const Trace* trace = nullptr;
    Slot slots = 0;
    std::uint16_t lanes = 0;
    std::uint32_t texts = 0;
    std::uint32_t stacks = 0;
    std::vector<std::uint64_t> now = {};  ///< by event, its number here
  };

  void add_texts(const Recording& recording) {
    const auto texts = static_cast<std::uint32_t>(made_.texts.size() - 1);
    const auto frames = static_cast<std::uint32_t>(made_.frames.size());
    const auto renumbered = [&](std::uint32_t text) { return text == 0 ? 0 : text + texts; };
    for (std::size_t i = 1; i < recording.texts.size(); ++i) {
      made_.texts.push_back(recording.texts[i]);
    }
    for (Frame frame : recording.frames) {
      made_.frames.push_back({renumbered(frame.name), renumbered(frame.file), frame.line});
    }
    for (std::size_t i = 1; i < recording.stacks.size(); ++i) {
      std::vector<std::uint32_t> stack = recording.stacks[i];
      for (std::uint32_t& frame : stack) frame += frames;
      made_.stacks.push_back(std::move(stack));
    }
  }

  void add_start(const Trace& trace) {
    const Part& part = parts_.back();
    for (SegmentInfo segment : trace.start.segments) {
      segment.stream =
          static_cast<StreamIndex>(segment.stream + shared_.sharers.back().first_stream);
      segment.pool = static_cast<PoolIndex>(segment.pool + shared_.sharers.back().first_pool);
      for (BlockInfo& block : segment.blocks) {
        if (block.slot != kNoSlot) block.slot += part.slots;
        if (block.stack != 0) block.stack += part.stacks;
      }
      all_.start.segments.push_back(std::move(segment));
    }
  }

  void add_coverage(const Coverage& own) {
    Coverage& coverage = all_.coverage;
    coverage.starts_empty &= own.starts_empty;
    coverage.complete &= own.complete;
    coverage.gapless &= own.gapless;
    coverage.preexisting_blocks += own.preexisting_blocks;
    coverage.preexisting_bytes += own.preexisting_bytes;
    for (const auto& [reason, events] : own.dropped) coverage.dropped[reason] += events;
    for (const auto& [reason, events] : own.synthesised) coverage.synthesised[reason] += events;
  }

  /// When an event of a part is due: of equal ones that of the first part comes first.
  double due(const Part& part, std::size_t event) const {
    const Trace& trace = *part.trace;
    if (order_ == TogetherOrder::share) {
      return static_cast<double>(event) / static_cast<double>(trace.size());
    }
    const std::int64_t begin = order_ == TogetherOrder::start ? trace.times_us.front() : 0;
    return static_cast<double>(trace.times_us[event] - begin);
  }

  void play() {
    using Next = std::tuple<double, std::size_t, std::size_t>;  // due, part, event
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    const auto queue = [&](std::size_t part, std::size_t event) {
      if (event < parts_[part].trace->size()) next.emplace(due(parts_[part], event), part, event);
    };
    for (std::size_t i = 0; i < parts_.size(); ++i) queue(i, 0);
    while (!next.empty()) {
      const auto [at, part, event] = next.top();
      next.pop();
      add_event(part, event, at);
      queue(part, event + 1);
    }
  }

  void add_event(std::size_t owner, std::size_t event, double at) {
    Part& part = parts_[owner];
    part.now.push_back(all_.size());
    if (is_driver_event(part.trace->ops[event])) return;
    append_event(*part.trace, event, all_);
    const auto move_last = [](std::vector<std::uint32_t>& numbers, std::uint32_t none,
                              std::uint32_t by) {
      if (!numbers.empty() && numbers.back() != none) numbers.back() += by;
    };
    all_.lane_of.back() = static_cast<std::uint16_t>(all_.lane_of.back() + part.lanes);
    move_last(all_.slots, kNoSlot, part.slots);
    move_last(all_.stacks, 0, part.stacks);
    move_last(all_.tags, 0, part.texts);
    if (order_ != TogetherOrder::share) all_.times_us.back() = static_cast<std::int64_t>(at);
    if (all_.ops.back() != Op::empty_cache) return;
    // The process's own, not everybody's.
    all_.ops.back() = Op::marker;
    shared_.reading.calls.push_back(
        {all_.size() - 1, ProgramCall::Kind::end_pool, shared_.sharers[owner].first_pool});
  }

  // What the programs did that their recordings show by its effects.
  void add_calls() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const VerifyResult* verified = shared_.sharers[i].subject->verified();
      if (verified == nullptr) continue;
      const std::vector<std::uint64_t>& now = parts_[i].now;
      const PoolIndex first_pool = shared_.sharers[i].first_pool;
      const auto event_now = [&](std::uint64_t event) {
        return event < now.size() ? now[event] : event == UINT64_MAX ? event : all_.ops.size();
      };
      for (ProgramCall call : verified->reading.calls) {
        if (call.kind == ProgramCall::Kind::empty_cache) {
          call = {call.event, ProgramCall::Kind::end_pool, 0};
        }
        call.pool = static_cast<PoolIndex>(call.pool + first_pool);
        call.event = event_now(call.event);
        shared_.reading.calls.push_back(call);
      }
      for (const Deferral& deferral : verified->reading.deferrals) {
        shared_.reading.deferrals.push_back({event_now(deferral.event), event_now(deferral.due)});
      }
      for (SettingsCall call : verified->reading.settings_calls) {
        call.event = event_now(call.event);
        shared_.sharers[i].settings_calls.push_back(std::move(call));
      }
    }
    std::ranges::stable_sort(shared_.reading.calls, {}, &ProgramCall::event);
    std::ranges::stable_sort(shared_.reading.deferrals, {}, &Deferral::event);
  }

  TogetherOrder order_;
  Recording made_;
  Trace all_;
  SharedDevice shared_;
  std::vector<Part> parts_;
};

}  // namespace

MadeRecordings on_one_device(std::vector<SharingRecording> recordings,
                             std::optional<TogetherOrder> order) {
  const TogetherOrder chosen = order.value_or(usual_order(recordings));
  check(recordings, chosen);
  Joining joining(chosen);
  for (SharingRecording& recording : recordings) joining.add(std::move(recording));
  return joining.finish();
}

}  // namespace memreplay
