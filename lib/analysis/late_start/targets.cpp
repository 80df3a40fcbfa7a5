#include "analysis/late_start/targets.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
namespace {

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
  return name == "rmm-pool" || name == "free-list" ? kDivided : kOther;
}

}  // namespace memreplay
