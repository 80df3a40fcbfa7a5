#include "run/late_start/stage.hpp"

#include <algorithm>
#include <cmath>

#include "replay/trial.hpp"

namespace memreplay {
namespace {

/// Sizes of steps that are tried.
constexpr double kFactors[] = {.1, .25,  .4,  .5,   .6,  .7,  .8,  .85, .9,  .95,
                               1,  1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8,
                               2,  2.3,  2.6, 3,    3.5, 4,   5,   6,   8};
constexpr std::size_t kAsRecorded = 10;  ///< the index of 1
constexpr double kSame = .025;  ///< steps like those recorded differ by less of the reserved bytes

class ScaleSearch {
 public:
  ScaleSearch(const WarmParts& parts, Stage& recorded)
      : wanted_(static_cast<double>(parts.reserved)), recorded_(recorded) {}

  // How far the reserved bytes after these steps are from those recorded, as a share.
  double off(const std::vector<double>& steps) {
    const Bytes reserved =
        recorded_.reserved_after({Preparation::Start::founders_first, steps}).value_or(0);
    ratio_ = static_cast<double>(reserved) / wanted_;
    return std::abs(ratio_ - 1);
  }

  // Larger steps leave more memory reserved, by and large: bisects, then compares the two around.
  double by_reserved() {
    if (off({1}) <= kSame) return 1;
    const bool too_small = ratio_ < 1;
    double best = 0;
    double least = off({}) + .002;
    const auto look_at = [&](double factor) {
      const double badness = off({factor}) + .001 * std::abs(std::log(factor));
      if (badness < least) {
        least = badness;
        best = factor;
      }
    };
    std::size_t low = too_small ? kAsRecorded : 0;
    std::size_t high = too_small ? std::size(kFactors) : kAsRecorded + 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      look_at(kFactors[middle]);
      if (ratio_ < 1) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return best;
  }

 private:
  double wanted_;
  Stage& recorded_;
  double ratio_ = 0;
};

double largest_step(const WarmParts& parts, bool expandable, ScaleSearch search) {
  constexpr double kLargest = 8;
  if (expandable || parts.largest_scalable < torch::kLargeBuffer) return search.by_reserved();
  if (parts.largest_earlier == 0) return std::min(1.0, search.by_reserved());
  double ratio =
      static_cast<double>(parts.largest_earlier) / static_cast<double>(parts.largest_scalable);
  ratio = std::abs(ratio - 1) < .02 ? 1 : std::min(kLargest, ratio);
  const double off_without = search.off({});
  return off_without <= kSame && off_without < search.off({ratio}) ? 0 : ratio;
}

WarmKind kind_of(double largest) {
  if (largest == 0) return WarmKind::fresh;
  if (largest == 1) return WarmKind::steady;
  return largest < 1 ? WarmKind::smaller : WarmKind::larger;
}

using Way = Guess::Way;
using Correction = Guess::Correction;

constexpr Guess kKept{Way::kept};
constexpr Guess kKeptLive{Way::kept_live};
constexpr Guess kIdle{Way::idle};
constexpr Guess kOneStep{Way::one_step};
constexpr Guess kLargest{Way::largest_step};
constexpr Guess kFading{Way::fading_steps};

constexpr Guess by_ratio(Guess guess) { return {guess.way, Correction::ratio}; }
constexpr Guess by_difference(Guess guess) { return {guess.way, Correction::difference}; }

double median(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Which guesses to take, and by how much they miss, was measured on some forty kinds of programs,
// each cut at several places and played whole under both settings (tools/warm_truth).

// Steps that explain less than this of what was reserved are shorter than the program's own.
constexpr double kExplained = .6;
const Target kToExpandable{[](const GuessValue& value) {
                             const double scaled = value(by_ratio(kLargest));
                             return value(kLargest) < kExplained * scaled
                                        ? median(value(kLargest), value(kIdle), scaled)
                                        : std::min(value(kIdle), value(kLargest));
                           },
                           {kLargest, by_difference(kLargest)},
                           {.84, 1.14}};
const Target kFromExpandable{
    [](const GuessValue& value) { return std::sqrt(value(kLargest) * value(by_ratio(kOneStep))); },
    {by_ratio(kOneStep), by_ratio(kFading)},
    {.79, 1.90, 2}};
const Target kBothExpandable{[](const GuessValue& value) {
                               return median(value(kKept), value(kLargest),
                                             value(by_difference(kOneStep)));
                             },
                             {kKept, kIdle, kLargest, by_difference(kOneStep)},
                             {.93, 1.08}};
const Target kSplitLimit{[](const GuessValue& value) {
                           return median(value(by_ratio(kIdle)), value(kLargest),
                                         value(by_ratio(kOneStep)));
                         },
                         {kKept, by_ratio(kIdle), by_ratio(kFading)},
                         {.84, 1.65, 1.5, .20}};
// The two options fight: what is reserved grows with every step.
const Target kSplitExpandable{[](const GuessValue& value) {
                                return median(value(kKept), value(kLargest),
                                              value(by_ratio(kOneStep)));
                              },
                              {kKept, kLargest, kFading, by_ratio(kFading)},
                              {.80, 2, 3}};
const Target kRounding{[](const GuessValue& value) {
                         return median(value(kIdle), value(by_difference(kIdle)),
                                       value(by_difference(kOneStep)));
                       },
                       {kLargest},
                       {.85, 1.13, .5}};
// What changes when memory is obtained and returned, but not how it is cut: most of what was cached
// when the recording began would be there as it is.
double mostly_kept(const GuessValue& value) {
  return median(value(kKept), value(kLargest), value(by_difference(kIdle)));
}
const Target kSegmentSize{
    mostly_kept, {kKept, by_difference(kIdle), by_difference(kLargest)}, {.87, 1.09, 2}};
const Target kCapacity{mostly_kept, {kKeptLive, kIdle, kLargest}, {.91, 1.07}};
const Target kCollection{mostly_kept, {kKeptLive, kIdle, kLargest}, {.92, 1.05}};
// For the same rules on a device as large: what a recording lacks is the ages of its blocks.
const Target kSameRules{[](const GuessValue& value) { return value(kKept); },
                        {kKept, kLargest, kKeptLive},
                        {.95, 1.05}};

double of_other(const GuessValue& value) {
  return median(value(kOneStep), value(kIdle), value(kLargest));
}
const Target kOther{of_other, {kOneStep, kIdle, kFading}, {.82, 1.25}};
// Where the first requests decide for good how memory is divided: a pool that doubles what it
// holds may be one doubling off.
const Target kDivided{of_other, {kOneStep, kIdle, kFading}, {.65, 1.55}};

}  // namespace

Stage::Stage(const Contender& contender, const WarmScript& script,
             const SimulatedDeviceOptions& device, const ReplayOptions& replaying)
    : contender_(contender), script_(script), device_options_(device), replaying_(replaying) {}

Stage::Scene Stage::empty_scene() const {
  SimulatedDeviceOptions options = device_options_;
  options.policy = contender_.order_of_addresses(options.policy);
  Scene scene{.device = std::make_unique<SimulatedDevice>(options),
              .strategy = {},
              .placed = std::vector<Placement>(script_.rehearsed.slot_count)};
  StrategyContext context = contender_.subject().context(*scene.device);
  context.capacity = device_options_.capacity;
  scene.strategy = contender_.make(context);
  return scene;
}

Stage::Scene Stage::copy(const Scene& scene) {
  Scene copy{scene.device->clone(), {}, scene.placed, scene.refused};
  copy.strategy = scene.strategy->clone(*copy.device);
  return copy;
}

const Stage::Scene* Stage::prepared(const Preparation& preparation) {
  if (const auto known = scenes_.find(preparation); known != scenes_.end()) return &known->second;
  Preparation begun = preparation;
  std::size_t done = 0;
  Scene scene;
  // What comes before the first step depends on whether there is one.
  while (begun.rehearsals.size() > 1 && done == 0) {
    begun.rehearsals.pop_back();
    const auto known = scenes_.find(begun);
    if (known == scenes_.end()) continue;
    scene = copy(known->second);
    done = begun.rehearsals.size();
  }
  if (done == 0) scene = empty_scene();
  Rehearsal rehearsal(script_, *scene.strategy, *scene.device, scene.placed);
  if (!rehearsal.prepare(preparation, done)) return nullptr;
  scene.refused += rehearsal.refused();
  return &scenes_.emplace(preparation, std::move(scene)).first->second;
}

std::optional<Bytes> Stage::reserved_after(const Preparation& preparation) {
  const Scene* scene = prepared(preparation);
  return scene ? std::optional(scene->device->usage().held) : std::nullopt;
}

std::optional<StageOutcome> Stage::outcome(const Preparation& preparation) {
  if (const auto known = outcomes_.find(preparation); known != outcomes_.end()) {
    return known->second;
  }
  const Scene* scene = prepared(preparation);
  if (!scene) return std::nullopt;
  return outcomes_.emplace(preparation, measure(copy(*scene))).first->second;
}

StageOutcome Stage::measure(Scene scene) const {
  ReplayOptions playing{.stops = replaying_.stops, .measuring = replaying_.measuring};
  playing.stops.progress = nullptr;
  playing.begin_with = [&](Strategy&, DeviceModel&, std::span<Placement> by_slot) {
    std::ranges::copy(scene.placed, by_slot.begin());
    return scene.refused;
  };
  const RunMetrics m = replay(script_.measured, *scene.strategy, *scene.device, playing).metrics;
  return {.peak_reserved = m.peak_reserved,
          .end_reserved = m.end_reserved,
          .peak_allocated = m.peak_allocated,
          .end_allocated = m.end_allocated,
          .peak_of_small = m.counter("reserved_bytes.small_pool.peak"),
          .peak_of_large = m.counter("reserved_bytes.large_pool.peak"),
          .end_of_small = m.counter("reserved_bytes.small_pool.current"),
          .ooms = m.ooms,
          .oom_retries = m.oom_retries,
          .refused_before = scene.refused};
}

std::string name_of(WarmKind kind) {
  switch (kind) {
    case WarmKind::fresh:
      return "fresh";
    case WarmKind::steady:
      return "steady";
    case WarmKind::smaller:
      return "smaller";
    default:
      return "larger";
  }
}

EarlierSteps earlier_steps(const WarmParts& parts, bool expandable, Stage& recorded) {
  const double largest = largest_step(parts, expandable, ScaleSearch(parts, recorded));
  return {kind_of(largest), largest};
}

Preparation preparation_of(Guess::Way way, const EarlierSteps& steps) {
  using Start = Preparation::Start;
  std::vector<double> fading;
  if (steps.largest != 0) fading = {steps.largest, .8 * steps.largest, .6 * steps.largest};
  switch (way) {
    case Way::kept:
      return {Start::kept, {}};
    case Way::kept_live:
      return {Start::kept_live, {}};
    case Way::idle:
      return {Start::idle_first, {}};
    case Way::one_step:
      return {Start::founders_first, {1}};
    case Way::largest_step:
      fading.resize(std::min<std::size_t>(fading.size(), 1));
      return {Start::founders_first, fading};
    case Way::fading_steps:
      return {Start::founders_first, fading};
  }
  return {};
}

const Target& target_of(const TorchModel& recorded, const TorchModel& replayed,
                        std::optional<Bytes> room, Bytes needed) {
  const torch::Settings& a = recorded.settings;
  const torch::Settings& b = replayed.settings;
  // How much larger a block may be only counts for blocks above the limit.
  const bool other_excess = b.max_split_size != torch::kUnlimited &&
                            a.max_non_split_rounding_size != b.max_non_split_rounding_size;
  const bool other_split = a.max_split_size != b.max_split_size || other_excess;
  if (a.expandable_segments && b.expandable_segments) {
    return other_split ? kSplitExpandable : kBothExpandable;
  }
  if (b.expandable_segments) return kToExpandable;
  if (a.expandable_segments) return kFromExpandable;
  if (other_split) return kSplitLimit;
  if (a.roundup_power2_divisions != b.roundup_power2_divisions) return kRounding;
  if (b.garbage_collection_threshold > 0 && room && torch::memory_limit(b, [&] { return *room; }))
    return kCollection;
  if (room && *room < needed) return kCapacity;
  return a.large_segment_size != b.large_segment_size ? kSegmentSize : kSameRules;
}

const Target& target_of_other(std::string_view name) {
  return strategy_info(name).divides_early ? kDivided : kOther;
}

}  // namespace memreplay
