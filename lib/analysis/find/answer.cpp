#include "analysis/find/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "analysis/edit/edited.hpp"
#include "analysis/find/question.hpp"
#include "analysis/run/made_interval.hpp"
#include "analysis/run/run.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr std::int64_t kMostTried = std::int64_t{1} << 24;
constexpr std::int64_t kFewestAbove = 8;  ///< values that are looked at above the largest one
constexpr std::int64_t kShareAbove = 16;  ///< or in so much of it
constexpr std::int64_t kMostAbove = 64;   ///< of them

/// What is predicted for values.
class Predictions {
 public:
  /// Of one value at a time, unless they are wanted again.
  Predictions(const VariedProgram& program, std::span<const Edit> edits, bool wanted_again)
      : program_(program), edits_(edits), wanted_again_(wanted_again) {}

  /// Until the next one is asked for.
  const std::vector<MadeRecordings>& at(std::int64_t value) {
    if (!wanted_again_ && !made_.contains(value)) made_.clear();
    auto& made = made_[value];
    if (!made) made = std::make_unique<std::vector<MadeRecordings>>(from_all_but({}, value));
    return *made;
  }
  /// Without one of the recordings.
  std::vector<MadeRecordings> from_all_but(std::optional<std::size_t> without, std::int64_t value) {
    std::vector<MadeRecordings> made = program_.at(value, without);
    for (MadeRecordings& one : made) {
      if (!edits_.empty()) one = edited(one, edits_);
    }
    return made;
  }
  const VariedProgram& program() const { return program_; }

 private:
  const VariedProgram& program_;
  std::span<const Edit> edits_;
  bool wanted_again_;
  std::map<std::int64_t, std::unique_ptr<std::vector<MadeRecordings>>> made_;
};

struct FindJob {
  Predictions& predictions;
  const Setup& setup;
  const Control& control;
};

Run run_at(const MadeRecordings& made, const StrategySpec& spec, std::optional<Bytes> capacity,
           const FindJob& job) {
  const MadeRecording& likeliest = made.likeliest;
  const Subject subject(likeliest.recording, likeliest.trace(), likeliest.origin);
  Setup setup = job.setup;
  setup.device.capacity = capacity;
  setup.device.endless = !capacity;
  const OpenDevice device = simulated({setup.device.simulated()});
  const LateStart late(subject, replay_options(subject.trace(), setup, job.control));
  Run run = memreplay::run(subject, spec, device, setup, late, nullptr, job.control);
  if (!capacity) span_others(made, spec, device, setup, job.control, run);
  return run;
}

/// One strategy on one device.
class ValueSearch {
 public:
  ValueSearch(const FindJob& job, const StrategySpec& spec, Bytes capacity)
      : job_(job), spec_(spec), capacity_(capacity) {}

  FoundValue find() {
    const std::vector<std::int64_t>& recorded = job_.predictions.program().values();
    std::int64_t low = 0;
    for (const std::int64_t value : recorded) low = fits(value) ? value : low;
    std::int64_t high = recorded.back();
    while (fits(high) && high < kMostTried && !stopped()) low = std::exchange(high, 2 * high);
    if (fits(high)) return found(high, high >= kMostTried);
    bisect(low, high);
    // Behind a value that does not fit another one may.
    for (std::int64_t above = low; !stopped();) {
      above = next_above(low);
      if (above == low) break;
      low = above;
      high = low + 1;
      while (fits(high) && high < kMostTried && !stopped()) low = high++;
    }
    return found(low, false);
  }

 private:
  bool stopped() const { return job_.control.stopped(); }

  void bisect(std::int64_t& low, std::int64_t high) {
    while (low + 1 < high && !stopped()) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
  }

  /// `low` where none fits.
  std::int64_t next_above(std::int64_t low) {
    const std::int64_t wide = std::max(kFewestAbove, low / kShareAbove);
    const std::int64_t step = std::max<std::int64_t>(1, wide / kMostAbove);
    for (std::int64_t value = low + wide; value > low + kFewestAbove && !stopped(); value -= step) {
      if (fits(value)) return value;
    }
    for (std::int64_t value = low + kFewestAbove; value > low && !stopped(); --value) {
      if (fits(value)) return value;
    }
    return low;
  }

  /// What was interrupted does not, and is no value that was tried.
  bool fits(std::int64_t value) {
    const auto known = tried_.find(value);
    if (known != tried_.end()) return known->second.fits;
    if (stopped()) return false;
    job_.control.show(fmt::format("{} at {}", spec_.text, value), 0);
    const std::vector<std::int64_t>& recorded = job_.predictions.program().values();
    ValueTried tried{
        .value = value, .recorded = std::ranges::binary_search(recorded, value), .fits = true};
    for (const MadeRecordings& made : job_.predictions.at(value)) {
      const Run need = run_at(made, spec_, std::nullopt, job_);
      if (need.metrics.peak_reserved >= tried.peak_reserved) {
        tried.peak_requested = need.metrics.peak_requested;
        tried.peak_allocated = need.metrics.peak_allocated;
        tried.peak_reserved = need.metrics.peak_reserved;
        tried.interval = need.interval;
      }
      const Run there = run_at(made, spec_, capacity_, job_);
      if (need.interrupted() || there.interrupted()) return false;
      tried.fits = tried.fits && there.metrics.ooms == 0;
      tried.oom_retries += there.metrics.oom_retries;
    }
    return tried_.emplace(value, tried).first->second.fits;
  }

  FoundValue found(std::int64_t largest, bool unbounded) {
    FoundValue found{.strategy = spec_.text,
                     .device = {},
                     .largest = {},
                     .unbounded = unbounded,
                     .interrupted = stopped()};
    if (largest > 0) found.largest = largest;
    for (const auto& [value, tried] : tried_) {
      if (value < largest && !tried.fits) found.fails_below = value;
      found.tried.push_back(tried);
    }
    return found;
  }

  const FindJob& job_;
  const StrategySpec& spec_;
  Bytes capacity_;
  std::map<std::int64_t, ValueTried> tried_;
};

struct WantedDevice {
  std::string name;
  Bytes capacity = 0;
};

std::vector<WantedDevice> devices_of(const FindQuestion& question) {
  std::vector<WantedDevice> devices;
  for (const ChosenCard& card : question.cards) {
    devices.push_back({std::string(card.card.name), card.card.total});
  }
  if (question.setup.device.capacity) devices.push_back({"", *question.setup.device.capacity});
  if (devices.empty()) {
    throw UsageError("--find: on which device? (--capacity SIZE or --device-name CARD)");
  }
  return devices;
}

std::vector<HeldBack> held_back(const VariedProgram& program, const StrategySpec& spec,
                                const FindJob& job) {
  std::vector<HeldBack> all;
  const std::vector<std::int64_t>& values = program.values();
  for (std::size_t i = 0; values.size() > 2 && i < values.size() && !job.control.stopped(); ++i) {
    HeldBack held{.value = values[i]};
    const std::vector<MadeRecordings> predicted = job.predictions.from_all_but(i, values[i]);
    const std::vector<MadeRecordings>& recorded = job.predictions.at(values[i]);
    for (std::size_t device = 0; device < program.devices(); ++device) {
      const RunMetrics there = run_at(recorded[device], spec, std::nullopt, job).metrics;
      const RunMetrics guess = run_at(predicted[device], spec, std::nullopt, job).metrics;
      if (there.peak_reserved < held.reserved) continue;
      held.requested = there.peak_requested;
      held.reserved = there.peak_reserved;
      held.requested_predicted = guess.peak_requested;
      held.reserved_predicted = guess.peak_reserved;
    }
    if (!job.control.stopped()) all.push_back(held);
  }
  return all;
}

}  // namespace

bool FindAnswer::all_fit() const {
  return std::ranges::all_of(found, [](const FoundValue& f) { return f.largest.has_value(); });
}

FindAnswer answer(const Inputs& inputs, const FindQuestion& question, const Control& control) {
  const std::vector<WantedDevice> devices = devices_of(question);
  const VariedProgram program(inputs.recordings(), question.variation, question.gpu);
  std::vector<StrategySpec> strategies = question.strategies;
  if (strategies.empty()) strategies.push_back(usual_strategy(inputs.recordings().front()));
  Setup setup = question.setup;
  FindAnswer answer;
  answer.plotted = question.plotted;
  answer.context_assumed = !question.cards.empty() && !setup.device.reserve;
  if (answer.context_assumed) setup.device.reserve = kContext;
  answer.reserve = setup.device.reserve.value_or(0);
  Predictions predictions(program, question.edits, devices.size() * strategies.size() > 1);
  const FindJob job{predictions, setup, control};
  for (const WantedDevice& device : devices) {
    for (const StrategySpec& spec : strategies) {
      if (control.stopped()) break;
      FoundValue& found = answer.found.emplace_back(ValueSearch(job, spec, device.capacity).find());
      setup.device.capacity = device.capacity;
      found.device = summarise(SizedDevice{setup.device.simulated(), CapacityFrom::option});
      if (!device.name.empty()) found.device.name = device.name;
    }
  }
  answer.held_back = held_back(program, strategies.front(), job);
  const std::int64_t shown = answer.found.empty()
                                 ? program.values().back()
                                 : answer.found.front().largest.value_or(program.values().back());
  const MadeRecordings& there = predictions.at(shown).front();
  answer.facts = *there.predicted;
  answer.edits = there.edits;
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
