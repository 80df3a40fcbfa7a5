#include "run/late_start/late_start.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "run/late_start/stage.hpp"

namespace memreplay {
namespace {

/// How far from the estimate the ends of an interval are at least.
constexpr double kLeastMargin = .01;
/// A guess that many times the estimate met a limit that the program never met: it does not count.
constexpr double kRunaway = 8;
const Preparation kStateKept{Preparation::Start::kept, {}};
const Preparation kBlocksAlone{Preparation::Start::founders_first, {}};

StrategySpec as_verified(StrategySpec spec, const Subject& subject) {
  return under_release(std::move(spec), subject.verified()->release);
}

// What the allocator may hold on this device.
Bytes most_of(const torch::Settings& settings, const SimulatedDeviceOptions& device) {
  const Bytes room = device.room().value_or(UINT64_MAX);
  return std::min(room, torch::memory_limit(settings, [&] {
                          return SimulatedDevice(device).total_bytes();
                        }).value_or(room));
}

// Plans are made for the recording's requests alone.
bool can_rehearse(const StrategySpec& spec) {
  const auto follows = [](const StrategySpec& inner) { return can_rehearse(inner); };
  return !plan_wish(spec) && !strategy_info(spec.name).needs_start &&
         std::ranges::all_of(spec.inner, follows);
}

}  // namespace

LateStart::LateStart(const Subject& subject, const ReplayOptions& replaying)
    : subject_(subject), replaying_(replaying) {}

bool LateStart::applies() const {
  return replaying_.program.start == StartMode::automatic && replaying_.program.scale == 1 &&
         WarmStart::applies_to(subject_);
}

std::optional<WarmEstimate> LateStart::instead_of(const ReplayResult& replay,
                                                  const Contender& contender,
                                                  const SimulatedDeviceOptions& device) const {
  if (!applies() || !contender.start_matters(device.room(), replay)) return std::nullopt;
  return warm().estimate(contender, device);
}

const WarmStart& LateStart::warm() const {
  std::call_once(looked_, [&] { warm_ = std::make_unique<WarmStart>(subject_, replaying_); });
  return *warm_;
}

void Estimated::keep_within(Bytes least, Bytes most) {
  least = std::min(least, most);
  for (Bytes* bytes : {&value, &interval.low, &interval.high}) {
    *bytes = std::clamp(*bytes, least, most);
  }
}

void Estimated::keep_below(const Estimated& other) {
  value = std::min(value, other.value);
  interval.low = std::min(interval.low, other.interval.low);
  interval.high = std::min(interval.high, other.interval.high);
}

void WarmEstimate::enter_into(RunMetrics& metrics) const {
  metrics.peak_reserved = peak_reserved.value;
  metrics.end_reserved = end_reserved.value;
  metrics.oom_retries = oom_retries;
  metrics.ooms = ooms;
}

/// The guesses for one strategy on one device.
class WarmStart::Guesses {
 public:
  Guesses(const WarmStart& warm, const Contender& contender, const SimulatedDeviceOptions& device)
      : warm_(warm), stage_(contender, warm.script_, device, warm.replaying_) {}

  using Quantity = Bytes StageOutcome::*;

  double value(Guess guess, Quantity quantity) {
    const double here = bytes(outcome(guess.way), quantity);
    if (guess.correction == Guess::Correction::none) return here;
    const double there = bytes(warm_.recorded_outcome(preparation(guess.way)), quantity);
    const double recorded = bytes(warm_.recorded_outcome(kStateKept), quantity);
    if (guess.correction == Guess::Correction::difference) {
      return std::max(1.0, here + recorded - there);
    }
    return there > 0 ? here * recorded / there : here;
  }

  Estimated estimated(const Target& target, Quantity quantity) {
    const auto value = [&](Guess guess) { return this->value(guess, quantity); };
    double middle = target.estimate(value);
    double low = middle;
    double high = middle;
    for (const Guess guess : target.guesses) {
      low = std::min(low, value(guess));
      if (value(guess) < kRunaway * middle) high = std::max(high, value(guess));
    }
    if (high == 0) return {};
    middle = std::max(middle, 1.0);
    low = std::max(low, 1.0);
    const Target::Widening& widening = target.widening;
    const double apart = std::log(high / low);
    const double share = apart < widening.agreed ? apart / widening.agreed : 1;
    high = middle * std::pow(high / middle, widening.rise) * std::pow(widening.high, share);
    low = std::min(low * std::pow(widening.low, share), middle * (1 - kLeastMargin));
    high = std::max(high, middle * (1 + kLeastMargin));
    return {static_cast<Bytes>(middle),
            {static_cast<Bytes>(low), static_cast<Bytes>(std::ceil(high))}};
  }

  /// The nearest way, if `fits` among those that serve everything, else among the others.
  Guess::Way nearest(const WarmEstimate& estimate, Bytes room) const {
    const auto off = [](Bytes a, Bytes b) {
      return std::abs(std::log((static_cast<double>(a) + 1) / (static_cast<double>(b) + 1)));
    };
    const auto badness = [&](const auto& known) {
      const StageOutcome& o = known.second;
      const bool overfull = o.peak_allocated > room;
      const double off_bytes = off(o.peak_reserved, estimate.peak_reserved.value) +
                               off(o.end_reserved, estimate.end_reserved.value);
      return std::tuple(overfull, o.serves() != estimate.fits, off_bytes);
    };
    return std::ranges::min_element(outcomes_, {}, badness)->first;
  }

  const StageOutcome& outcome(Guess::Way way) {
    const auto known = outcomes_.find(way);
    if (known != outcomes_.end()) return known->second;
    return outcomes_.emplace(way, stage_.outcome(preparation(way)).value()).first->second;
  }

  Preparation preparation(Guess::Way way) const { return preparation_of(way, warm_.steps_); }

  /// After the blocks that were there, and nothing else.
  StageOutcome after_blocks_alone() { return stage_.outcome(kBlocksAlone).value(); }

 private:
  static double bytes(const StageOutcome& outcome, Quantity quantity) {
    return static_cast<double>(outcome.*quantity);
  }

  const WarmStart& warm_;
  Stage stage_;
  std::map<Guess::Way, StageOutcome> outcomes_;
};

WarmStart::WarmStart(const Subject& subject, const ReplayOptions& replaying)
    : subject_(subject),
      replaying_(replaying),
      usual_(subject, as_verified(usual_strategy(subject.recording()), subject)),
      parts_(warm_parts(subject.trace(), usual_.model()->settings)),
      rehearsed_(program_of(subject, {.ignore_empty_cache = replaying.program.ignore_empty_cache})),
      measured_(program_of(subject, replaying.program)),
      script_{rehearsed_, measured_, parts_},
      endless_{.policy = AddressPolicy::automatic},
      recorded_(usual_, script_, endless_, replaying_),
      steps_(memreplay::earlier_steps(parts_, usual_.model()->settings.expandable_segments,
                                      recorded_)) {}

bool WarmStart::applies_to(const Subject& subject) {
  return subject.verified() != nullptr && !subject.trace().start.segments.empty() &&
         subject.trace().size() > 0;
}

StageOutcome WarmStart::recorded_outcome(const Preparation& preparation) const {
  const std::lock_guard lock(mutex_);
  return recorded_.outcome(preparation).value();
}

Beginning WarmStart::beginning(const Preparation& preparation) const {
  return
      [this, preparation](Strategy& strategy, DeviceModel& device, std::span<Placement> by_slot) {
        Rehearsal rehearsal(script_, strategy, device, by_slot);
        rehearsal.prepare(preparation);
        return rehearsal.refused();
      };
}

Beginning WarmStart::after_earlier_steps(const StrategySpec& spec) const {
  if (!can_rehearse(spec)) return {};
  if (starts_small(subject_.trace())) {
    const Contender contender(subject_, as_verified(spec, subject_));
    return beginning(contender.adopts_start() ? kStateKept : kBlocksAlone);
  }
  return beginning(preparation_of(Guess::Way::largest_step, steps_));
}

std::optional<WarmEstimate> WarmStart::beside_small_start(Guesses& guesses, const TorchModel& model,
                                                          Bytes most) const {
  const bool collects = model.settings.garbage_collection_threshold > 0;
  if (!starts_small(subject_.trace()) || replaying_.measuring.from > 0 || collects) return {};
  const StageOutcome there = guesses.after_blocks_alone();
  // On a full device the two pools meet: one has what the other returned.
  const bool fits = there.serves() && there.oom_retries == 0;
  if (!fits || there.peak_reserved + parts_.reserved > most) return {};
  const Bytes least =
      std::max(there.peak_of_large,
               there.peak_reserved - std::min(there.peak_reserved, there.peak_of_small));
  const Bytes end_of_large = there.end_reserved - std::min(there.end_reserved, there.end_of_small);
  WarmEstimate estimate{
      .peak_reserved = {there.peak_reserved, {least, there.peak_reserved + parts_.reserved}},
      .end_reserved = {there.end_reserved, {end_of_large, there.end_reserved + parts_.reserved}},
      .nearest = kBlocksAlone};
  estimate.peak_reserved.keep_within(there.peak_allocated, most);
  estimate.end_reserved.keep_within(there.end_allocated, most);
  return estimate;
}

std::optional<WarmEstimate> WarmStart::estimate(const Contender& contender,
                                                const SimulatedDeviceOptions& device) const {
  if (!can_rehearse(contender.spec())) return std::nullopt;
  Guesses guesses(*this, contender, device);
  const std::optional<TorchModel>& model = contender.model();
  const Bytes most = model ? most_of(model->settings, device) : device.room().value_or(UINT64_MAX);
  if (model) {
    if (const auto narrow = beside_small_start(guesses, *model, most)) return narrow;
  }
  const StageOutcome recorded = recorded_outcome(kStateKept);
  const Target& target =
      model ? target_of(*usual_.model(), *model, device.room(), recorded.peak_reserved)
            : target_of_other(contender.spec().name);

  WarmEstimate estimate{
      .peak_reserved = guesses.estimated(target, &StageOutcome::peak_reserved),
      .end_reserved = guesses.estimated(target, &StageOutcome::end_reserved),
  };
  const StageOutcome& stepped = guesses.outcome(Guess::Way::largest_step);
  estimate.fits = stepped.serves();
  estimate.refused_before = stepped.refused_before;
  const Guess::Way nearest = guesses.nearest(estimate, most);
  const StageOutcome& there = guesses.outcome(nearest);
  estimate.nearest = guesses.preparation(nearest);
  estimate.peak_reserved.keep_within(there.peak_allocated, most);
  estimate.end_reserved.keep_within(there.end_allocated, most);
  estimate.end_reserved.keep_below(estimate.peak_reserved);
  const bool keeps = contender.adopts_start();
  estimate.oom_retries = (keeps ? guesses.outcome(Guess::Way::kept) : there).oom_retries;
  estimate.ooms = std::max<std::uint64_t>(there.ooms, estimate.fits ? 0 : 1);
  return estimate;
}

}  // namespace memreplay
