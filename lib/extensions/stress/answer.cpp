#include "extensions/stress/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "extensions/stress/order.hpp"
#include "extensions/stress/work.hpp"
#include "program/steps.hpp"
#include "program/summary.hpp"
#include "replay/program.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

/// Orders that one thread plays before it looks for more.
constexpr std::size_t kOrdersAtOnce = 16;
/// So many events, by default, where the fewest orders do not have more.
constexpr std::uint64_t kEventsByDefault = 600'000'000;

/// What one strategy came to in one order.
struct Outcome {
  Bytes reserved = 0;
  Bytes live = 0;
  bool oom = false;
  bool played = false;
};

/// What all orders of one device of a recording share.
struct StressJob {
  const Subject& subject;
  const StressQuestion& question;
  const OpenDevice& device;
  const Work& work;
  const std::vector<StrategySpec>& strategies;
  std::uint64_t orders;
  std::shared_ptr<const Origin> origin;  ///< shared by all orders
  const Control& control;
};

std::vector<std::uint64_t> begins_of(const Subject& subject, const Program& program,
                                     std::optional<std::uint64_t> step_events, StepsFrom& from) {
  std::vector<std::uint64_t> begins;
  if (step_events) {
    from = StepsFrom::count;
    for (std::uint64_t event = 0; event < program.size(); event += *step_events) {
      begins.push_back(event);
    }
    return begins;
  }
  const Steps steps = steps_of(subject.recording(), subject.trace());
  switch (steps.source) {
    case Steps::Source::markers:
      from = StepsFrom::markers;
      return steps.begins;
    case Steps::Source::annotations:
      from = StepsFrom::annotations;
      return steps.begins;
    case Steps::Source::repetition:
      // What repeats in a short end of the recording is a loop in one of its steps.
      if (steps.begins.front() > program.size() / 2) break;
      from = StepsFrom::repetition;
      return steps.begins;
    case Steps::Source::none:
      break;
  }
  from = StepsFrom::quiet;
  return begins_where_little_lives(program);
}

StressedSteps steps_in(const Work& work, StepsFrom from) {
  const bool any = work.places > 0 && work.steps.size() > 1;
  return {.from = any ? from : StepsFrom::nowhere,
          .steps = work.places,
          .others = work.steps.size() - work.places,
          .last_stays = work.last_step_stays,
          .events = work.rows.ops.size(),
          .events_before = work.beginning.size(),
          .events_behind = work.end.size(),
          .crossing_blocks = work.crossing_blocks,
          .crossing_bytes = work.crossing_bytes,
          .lasting_blocks = work.lasting_blocks,
          .lasting_bytes = work.lasting_bytes,
          .frontiers = work.frontiers,
          .pool_ends = work.pool_ends,
          .unfinished_frees = work.unfinished_frees};
}

Work work_in(const Subject& subject, const StressQuestion& question, const Control& control,
             StepsFrom& from) {
  const ReplayOptions options = replay_options(subject.trace(), question.setup, control);
  const Program program = program_of(subject, options.program);
  const auto begins = begins_of(subject, program, question.step_events, from);
  return work_of(program, subject.trace(), begins);
}

void add_others(const StressQuestion& question, const Control& control, Work& work) {
  if (question.with == nullptr) return;
  for (const Chosen& chosen : question.with->chosen()) {
    StepsFrom from = StepsFrom::nowhere;
    const Subject subject = chosen.subject(control);
    const std::size_t added = add_steps(work_in(subject, question, control, from), work);
    if (added > 0) continue;
    throw UsageError(fmt::format("--with {}: it has no steps (--step N)", chosen.recording->path));
  }
}

/// Replays written orders, as if each had been recorded.
class Player {
 public:
  Player(const StressJob& job, std::size_t in_flight) : job_(job), writer_(job.work, in_flight) {}

  /// By strategy.
  void play(const Order& order, Draws& draws, std::span<Outcome> outcomes) {
    const Trace& trace = writer_.write(order, draws);
    const Subject made(job_.subject.recording(), trace, job_.origin);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (job_.control.stopped()) return;
      outcomes[i] = outcome_of(made, job_.strategies[i]);
    }
  }

 private:
  Outcome outcome_of(const Subject& made, const StrategySpec& spec) {
    ReplayOptions replaying = on_device({}, job_.device, job_.question.setup);
    replaying.device.like_recorded = LikeRecorded::nothing;
    replaying.program.start = job_.question.setup.start;
    replaying.stops.cancelled = job_.control.stop;
    const Contender contender(made, spec, replaying.program);
    const ReplayResult result = replay(contender, replaying).result;
    const RunMetrics& m = result.metrics;
    return {m.peak_reserved, m.peak_asked, m.ooms > 0, result.finished};
  }

  const StressJob& job_;
  OrderWriter writer_;
};

/// Numbers of their own for every order, whatever thread draws it.
Draws draws_of(std::uint64_t seed, std::uint64_t order) {
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15 + order;  // SplitMix64 by Vigna
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return Draws(mixed ^ (mixed >> 31));
}

/// Every order on every strategy: outcomes by order, then by strategy.
std::vector<Outcome> play_orders(const StressJob& job) {
  const std::size_t strategies = job.strategies.size();
  std::vector<Outcome> outcomes(job.orders * strategies);
  std::atomic<std::uint64_t> done{0};
  std::mutex showing;
  const std::size_t turns = (job.orders + kOrdersAtOnce - 1) / kOrdersAtOnce;
  for_each_parallel(turns, job.question.threads, [&](std::size_t turn) {
    if (job.control.stopped()) return;
    Player player(job, job.question.in_flight);
    const std::uint64_t from = turn * kOrdersAtOnce;
    const std::uint64_t to = std::min<std::uint64_t>(from + kOrdersAtOnce, job.orders);
    for (std::uint64_t i = from; i < to && !job.control.stopped(); ++i) {
      Draws draws = draws_of(job.question.seed, i);
      const Order order = draw_order(job.work.steps.size(), job.work.places, draws);
      player.play(order, draws, std::span(outcomes).subspan(i * strategies, strategies));
    }
    const std::lock_guard lock(showing);
    done += to - from;
    job.control.show("other orders", static_cast<double>(done) / static_cast<double>(job.orders));
  });
  return outcomes;
}

/// The value with `above` others above it, the (above + 1)-th largest.
template <typename T>
T from_above(std::vector<T>& values, std::size_t above) {
  const auto at = values.end() - static_cast<std::ptrdiff_t>(above + 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

OrderSpread spread_of(std::vector<Bytes> values) {
  std::ranges::sort(values);
  const std::size_t last = values.size() - 1;
  return {values.front(), values[last / 2], values[last - last / 100], values.back()};
}

StressMargin margin_of(const std::vector<Outcome>& outcomes, const ToleranceBound& bound,
                       Bytes recorded) {
  std::vector<Bytes> reserved;
  std::vector<std::int64_t> over_live;
  for (const Outcome& outcome : outcomes) {
    reserved.push_back(outcome.oom ? UINT64_MAX : outcome.reserved);
    over_live.push_back(outcome.oom ? INT64_MAX
                                    : static_cast<std::int64_t>(outcome.reserved) -
                                          static_cast<std::int64_t>(outcome.live));
  }
  StressMargin margin{.confidence = bound.confidence};
  margin.peak_reserved = from_above(reserved, bound.above);
  margin.over_live = from_above(over_live, bound.above);
  margin.over_recorded =
      static_cast<std::int64_t>(margin.peak_reserved) - static_cast<std::int64_t>(recorded);
  return margin;
}

StressRun stress_run(Run recorded, std::vector<Outcome> outcomes) {
  StressRun run{.recorded = std::move(recorded)};
  std::erase_if(outcomes, [](const Outcome& outcome) { return !outcome.played; });
  run.orders = outcomes.size();
  if (outcomes.empty()) return run;
  std::vector<Bytes> reserved;
  std::vector<Bytes> live;
  for (const Outcome& outcome : outcomes) {
    run.orders_with_oom += outcome.oom ? 1 : 0;
    reserved.push_back(outcome.reserved);
    live.push_back(outcome.live);
    ++run.orders_by_reserved[outcome.reserved];
  }
  run.reserved = spread_of(std::move(reserved));
  run.live = spread_of(std::move(live));
  const ToleranceBound bound = tolerance_bound(outcomes.size(), kStressShare, kStressConfidence);
  if (run.orders_with_oom <= bound.above) {
    run.margin = margin_of(outcomes, bound, run.recorded.metrics.peak_reserved);
  }
  return run;
}

std::uint64_t orders_for(const StressQuestion& question, const Work& work) {
  if (question.orders) return *question.orders;
  const std::uint64_t events = std::max<std::uint64_t>(work.rows.ops.size(), 1);
  return std::clamp(kEventsByDefault / events, kFewestOrders, kOrders);
}

void stress(const StressJob& job, const LateStart& late, StressedDevice& stressed) {
  std::vector<Run> recorded;
  for (const StrategySpec& spec : job.strategies) {
    if (job.control.stopped()) return;
    recorded.push_back(
        run(job.subject, spec, job.device, job.question.setup, late, nullptr, job.control));
  }
  std::vector<Outcome> same(job.strategies.size());
  Draws unused(0);
  Player(job, 1).play(recorded_order(job.work), unused, same);
  const std::vector<Outcome> outcomes = play_orders(job);
  for (std::size_t i = 0; i < job.strategies.size(); ++i) {
    std::vector<Outcome> own;
    for (std::size_t at = i; at < outcomes.size(); at += job.strategies.size()) {
      own.push_back(outcomes[at]);
    }
    StressRun& made =
        stressed.runs.emplace_back(stress_run(std::move(recorded[i]), std::move(own)));
    made.recorded_order = same[i].reserved;
    made.recorded.at_least = !stressed.trace.facts().whole();
  }
}

/// Keeps the parts of the reading that do not refer to events.
std::shared_ptr<const Origin> origin_of(const Subject& subject) {
  auto origin = std::make_shared<Origin>();
  const VerifyResult* verified = subject.verified();
  if (verified == nullptr) return origin;
  origin->verified.emplace(VerifyResult{*verified, {}});
  Reading& reading = origin->verified->reading;
  reading.pool_options = verified->reading.pool_options;
  reading.request_padding = verified->reading.request_padding;
  reading.large_alignment = verified->reading.large_alignment;
  return origin;
}

StressedDevice stressed_device(const Chosen& chosen, const StressQuestion& question,
                               const Control& control) {
  const Subject subject = chosen.subject(control);
  const OpenDevice device = simulated(sized_for(subject, question.setup));
  StressedDevice stressed;
  stressed.trace = summarise(chosen);
  stressed.device = device.summary;
  stressed.in_flight = question.in_flight;
  stressed.seed = question.seed;
  stressed.nothing_requested = !requests_anything(*chosen.trace);
  if (stressed.nothing_requested) return stressed;
  stressed.model_check = model_check(subject);
  StepsFrom from = StepsFrom::nowhere;
  Work work = work_in(subject, question, control, from);
  add_others(question, control, work);
  stressed.steps = steps_in(work, from);
  if (!stressed.has_orders()) return stressed;
  stressed.orders = orders_for(question, work);
  const std::vector<StrategySpec> strategies =
      asked_or_usual(question.strategies, *chosen.recording, question.setup.release);
  const LateStart late(subject, replay_options(subject.trace(), question.setup, control));
  const StressJob job{subject,         question,           device, work, strategies,
                      stressed.orders, origin_of(subject), control};
  stress(job, late, stressed);
  return stressed;
}

}  // namespace

bool StressAnswer::nothing_to_order() const {
  return std::ranges::none_of(devices, &StressedDevice::has_orders);
}

StressAnswer answer(const Inputs& inputs, const StressQuestion& question, const Control& control) {
  StressAnswer answer;
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    answer.devices.push_back(stressed_device(chosen, question, control));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
