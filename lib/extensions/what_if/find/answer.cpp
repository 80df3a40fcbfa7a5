#include "extensions/what_if/find/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"
#include "extensions/what_if/edit/edit.hpp"
#include "extensions/what_if/vary/varied_program.hpp"
#include "program/libraries.hpp"
#include "run/question.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

constexpr std::int64_t kMostTried = std::int64_t{1} << 24;
constexpr std::int64_t kFewestAbove = 8;  ///< values that are looked at above the largest one
constexpr std::int64_t kShareAbove = 16;  ///< or in so much of it
constexpr std::int64_t kMostAbove = 64;   ///< values above, at most

/// What is predicted for values.
class Predictions {
 public:
  /// Keeps the predictions of one value at a time, unless they are wanted again.
  Predictions(const VariedProgram& program, std::span<const std::string> edits, bool wanted_again)
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
  std::span<const std::string> edits_;
  bool wanted_again_;
  std::map<std::int64_t, std::unique_ptr<std::vector<MadeRecordings>>> made_;
};

struct FindJob {
  Predictions& predictions;
  const Setup& setup;
  const Control& control;
};

Run run_endless(const MadeRecordings& made, const StrategySpec& spec, const FindJob& job) {
  Setup setup = job.setup;
  setup.capacity.reset();
  setup.endless = true;
  return run_with_others(made, spec, simulated({setup.simulated()}), setup, job.control);
}

struct WantedDevice {
  std::string name;
  Bytes capacity = 0;
  BytesInterval usable;  ///< where it is not known what others have of it
  Bytes usually_usable = 0;
  std::optional<SetAside> set_aside = {};
};

Run run_within(const WantedDevice& device, Bytes usable, const MadeRecording& made,
               const StrategySpec& spec, const FindJob& job) {
  Setup setup = job.setup;
  setup.capacity = std::max(device.capacity, usable);
  setup.reserve = *setup.capacity - usable;
  return run_made(made, spec, simulated({setup.simulated()}), setup, job.control);
}

/// Whether a program runs on a device, as far as it is known.
struct FitsWithin {
  bool surely = true;
  bool usually = true;
  bool maybe = true;
  std::uint64_t oom_retries = 0;
};

FitsWithin fits_within(const WantedDevice& device, const MadeRecordings& made, const Run& endless,
                       const StrategySpec& spec, const FindJob& job) {
  const auto serves = [&](Bytes usable, const MadeRecording& one) {
    return run_within(device, usable, one, spec, job).metrics.ooms == 0;
  };
  const BytesInterval& usable = device.usable;
  const Run run = run_within(device, usable.low, made.likeliest, spec, job);
  FitsWithin fit{.surely = run.metrics.ooms == 0, .oom_retries = run.metrics.oom_retries};
  const bool open = usable.low < usable.high;
  fit.usually = fit.surely || (open && serves(device.usually_usable, made.likeliest));
  fit.maybe = fit.usually || (open && serves(usable.high, made.likeliest));
  if (made.is_certain() || !endless.interval) return fit;
  const BytesInterval& reserved = endless.interval->peak_reserved;
  if (reserved.high <= usable.low) return fit;
  if (endless.interval->peak_requested && endless.interval->peak_requested->low > usable.high) {
    return {.surely = false, .usually = false, .maybe = false};
  }
  const auto scaled = [](Bytes size, double by) {
    return memreplay::bytes_of(static_cast<double>(size) * by);
  };
  const Bytes tight = scaled(usable.low, 1 / (1 + made.reserved_open));
  const Bytes wide = scaled(usable.high, 1 + made.reserved_open);
  if (made.reserved_open > 0) {
    fit.surely = fit.surely && serves(tight, made.likeliest);
    fit.maybe = fit.maybe || serves(wide, made.likeliest);
  }
  for (const MadeRecording& other : made.others) {
    // How far the reach of a longer loop goes, no replay tells.
    fit.surely = fit.surely && other.reach == 0 && serves(tight, other);
    fit.maybe = fit.maybe || serves(wide, other);
  }
  return fit;
}

/// One strategy on one device.
class ValueSearch {
 public:
  ValueSearch(const FindJob& job, const StrategySpec& spec, const WantedDevice& device)
      : job_(job), spec_(spec), device_(device) {}

  FoundValue find() {
    const std::vector<std::int64_t>& recorded = job_.predictions.program().values();
    std::int64_t low = 0;
    for (const std::int64_t value : recorded) low = fits(value) ? value : low;
    std::int64_t high = recorded.back();
    while (fits(high) && high < kMostTried && !stopped()) low = std::exchange(high, 2 * high);
    if (fits(high)) return found(high, high >= kMostTried);
    bisect(low, high, &ValueSearch::fits);
    // Behind a value that does not fit another one may.
    for (std::int64_t above = low; !stopped();) {
      above = next_above(low);
      if (above == low) break;
      low = above;
      high = low + 1;
      while (fits(high) && high < kMostTried && !stopped()) low = high++;
    }
    FoundValue largest = found(low, false);
    std::int64_t maybe = low;
    high = low + 1;
    while (may_fit(high) && high < kMostTried && !stopped()) maybe = std::exchange(high, 2 * high);
    if (!may_fit(high)) bisect(maybe, high, &ValueSearch::may_fit);
    if (maybe > low) largest.may_fit = maybe;
    if (device_.usable.low < device_.usable.high) {
      bisect(low, maybe + 1, &ValueSearch::usually_fits);
      if (low > 0) largest.usually = low;
    }
    return largest;
  }

 private:
  bool stopped() const { return job_.control.stopped(); }

  void bisect(std::int64_t& low, std::int64_t high, bool (ValueSearch::*does)(std::int64_t)) {
    while (low + 1 < high && !stopped()) {
      const std::int64_t middle = low + (high - low) / 2;
      ((this->*does)(middle) ? low : high) = middle;
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
    const ValueTried* tried = try_at(value);
    return tried != nullptr && tried->fits;
  }
  bool usually_fits(std::int64_t value) {
    const ValueTried* tried = try_at(value);
    return tried != nullptr && tried->usually_fits;
  }
  bool may_fit(std::int64_t value) {
    const ValueTried* tried = try_at(value);
    return tried != nullptr && tried->may_fit;
  }

  /// Null where it was interrupted.
  const ValueTried* try_at(std::int64_t value) {
    const auto known = tried_.find(value);
    if (known != tried_.end()) return &known->second;
    if (stopped()) return nullptr;
    job_.control.show(fmt::format("{} at {}", spec_.text, value), 0);
    const std::vector<std::int64_t>& recorded = job_.predictions.program().values();
    ValueTried tried{.value = value,
                     .recorded = std::ranges::binary_search(recorded, value),
                     .fits = true,
                     .may_fit = true,
                     .usually_fits = true};
    for (const MadeRecordings& made : job_.predictions.at(value)) {
      const Run need = run_endless(made, spec_, job_);
      if (need.metrics.peak_reserved >= tried.peak_reserved) {
        tried.peak_requested = need.metrics.peak_requested;
        tried.peak_allocated = need.metrics.peak_allocated;
        tried.peak_reserved = need.metrics.peak_reserved;
        tried.interval = need.interval;
      }
      const FitsWithin fit = fits_within(device_, made, need, spec_, job_);
      if (stopped()) return nullptr;
      tried.fits = tried.fits && fit.surely;
      tried.may_fit = tried.may_fit && fit.maybe;
      tried.usually_fits = tried.usually_fits && fit.usually;
      tried.oom_retries += fit.oom_retries;
    }
    return &tried_.emplace(value, tried).first->second;
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
  const WantedDevice& device_;
  std::map<std::int64_t, ValueTried> tried_;
};

/// One process of the program, as all recordings of it show it.
CardTraits traits_in(const Inputs& inputs) {
  CardTraits traits;
  for (const Chosen& chosen : inputs.chosen()) {
    traits.add(card_traits(*chosen.recording, *chosen.trace));
  }
  return traits;
}

std::vector<WantedDevice> devices_of(const FindQuestion& question, const Inputs& inputs) {
  std::vector<WantedDevice> devices;
  const std::optional<Bytes> reserve = question.setup.reserve;
  for (const ChosenCard& chosen : question.cards) {
    const Card& card = chosen.card;
    const SetAside aside =
        reserve ? SetAside{.others = *reserve} : set_aside_on(card, std::vector{traits_in(inputs)});
    devices.push_back({std::string(card.name), card.total, usable_on(card, aside),
                       card.total - std::min(card.total, aside.bytes()), aside});
  }
  if (const auto capacity = question.setup.capacity) {
    const Bytes usable = *capacity - std::min(*capacity, reserve.value_or(0));
    devices.push_back({"", *capacity, {usable, usable}, usable});
  }
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
      const RunMetrics there = run_endless(recorded[device], spec, job).metrics;
      const RunMetrics guess = run_endless(predicted[device], spec, job).metrics;
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
  const std::vector<WantedDevice> devices = devices_of(question, inputs);
  const VariedProgram program(inputs.recordings(), question.variation, question.gpu);
  const std::vector<StrategySpec> strategies =
      asked_or_usual(question.strategies, inputs.recordings().front(), question.setup.release);
  Setup setup = question.setup;
  FindAnswer answer;
  answer.plotted = question.plotted;
  answer.set_aside = devices.front().set_aside;
  for (const WantedDevice& device : devices) {
    if (device.set_aside) answer.set_aside = bounds_of_both(*answer.set_aside, *device.set_aside);
  }
  if (answer.set_aside) setup.reserve = answer.set_aside->bytes();
  answer.reserve = setup.reserve.value_or(0);
  Predictions predictions(program, question.edits, devices.size() * strategies.size() > 1);
  const FindJob job{predictions, setup, control};
  for (const WantedDevice& device : devices) {
    for (const StrategySpec& spec : strategies) {
      if (control.stopped()) break;
      FoundValue& found = answer.found.emplace_back(ValueSearch(job, spec, device).find());
      setup.capacity = device.capacity;
      found.device = summarise(SizedDevice{setup.simulated(), CapacityFrom::option});
      if (!device.name.empty()) found.device.name = device.name;
      found.device.set_aside = device.set_aside;
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
