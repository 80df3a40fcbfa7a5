#include "analysis/warm_start/targets.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
namespace {

using Way = Guess::Way;
using Correction = Guess::Correction;

constexpr Guess kLastStep{Way::last_step};
constexpr Guess kSteps{Way::steps};
constexpr Guess kFading{Way::fading_steps};
constexpr Guess kTwoSteps{Way::two_steps};
constexpr Guess kLive{Way::live};
constexpr Guess kLiveAndStep{Way::live_and_step};
constexpr Guess kIdle{Way::idle};
constexpr Guess kKept{Way::kept};
constexpr Guess kKeptLive{Way::kept_live};

constexpr Guess by_ratio(Guess guess) { return {guess.way, Correction::ratio}; }
constexpr Guess by_difference(Guess guess) { return {guess.way, Correction::difference}; }

/// Requests of a size that the program never asked for may meet a limit that its own never meet,
/// and then leave a segment behind each: a guess that many times another one is not trusted.
constexpr double kRunaway = 4;

double median(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Which guesses to take, and by how much they miss, was measured on 27 kinds of programs, each cut
// at five places and played whole under both settings (tools/warm_truth).
const Target kToExpandable{
    [](const GuessValue& value) { return std::min(value(kIdle), value(kFading)); },
    {kSteps, kFading},
    {.88, 1.31}};
const Target kFromExpandable{[](const GuessValue& value) {
                               const double scaled = value(kLastStep);
                               const double unscaled = value(by_ratio(kTwoSteps));
                               return scaled > kRunaway * unscaled ? unscaled
                                                                   : std::sqrt(scaled * unscaled);
                             },
                             {kLastStep, by_ratio(kTwoSteps), by_ratio(kLiveAndStep)},
                             {.82, 1.85}};
const Target kBothExpandable{
    [](const GuessValue& value) { return value(by_difference(kLiveAndStep)); },
    {kKept, by_difference(kTwoSteps), by_difference(kLastStep)},
    {.97, 1.04}};
const Target kSplitLimit{[](const GuessValue& value) {
                           return median(value(by_ratio(kIdle)), value(kSteps),
                                         value(by_ratio(kLiveAndStep)));
                         },
                         {by_ratio(kIdle), kSteps, by_ratio(kLiveAndStep), kKept},
                         {.88, 1.32}};
const Target kRounding{[](const GuessValue& value) {
                         return median(value(kIdle), value(by_difference(kIdle)),
                                       value(by_difference(kLiveAndStep)));
                       },
                       {by_difference(kIdle), by_difference(kSteps), by_difference(kLiveAndStep)},
                       {.88, 1.20}};
const Target kSegmentSize{[](const GuessValue& value) {
                            return median(value(kKept), value(by_difference(kIdle)), value(kSteps));
                          },
                          {kKept, by_difference(kIdle), kSteps},
                          {.79, 1.08}};
const Target kCollection{
    [](const GuessValue& value) { return std::max(value(kSteps), value(kKeptLive)); },
    {kLastStep, kSteps, kFading, kKept, kKeptLive},
    {.93, 1.02}};
const Target kCapacity{[](const GuessValue& value) { return value(kFading); },
                       {kLastStep, kSteps, kFading, kIdle},
                       {.91, 1.09}};
// The same rules on a device as large: what a recording lacks is the ages of its blocks.
const Target kSameRules{
    [](const GuessValue& value) { return value(kKept); }, {kKept, kSteps, kKeptLive}, {.95, 1.05}};
// Some of them double what they hold, and may be one doubling off.
const Target kOthers{[](const GuessValue& value) { return value(kLiveAndStep); },
                     {kLive, kLiveAndStep, kSteps},
                     {.60, 1.60}};

bool has_limit(const torch::Settings& settings) {
  return settings.memory_limit || settings.fraction_set_by_call ||
         settings.per_process_memory_fraction < 1;
}

}  // namespace

Preparation preparation_of(Guess::Way way, const EarlierSteps& steps) {
  using Start = Preparation::Start;
  constexpr double kFading[] = {.93, .86, .79, .72, .65, .58};
  switch (way) {
    case Way::last_step:
      return {Start::founders_first,
              steps.largest == 0 ? std::vector<double>{} : std::vector{steps.largest}};
    case Way::steps:
      return {Start::founders_first, steps.rehearsals};
    case Way::fading_steps: {
      Preparation fading{Start::founders_first, steps.rehearsals};
      if (steps.largest == 0) return fading;
      for (const double factor : kFading) fading.rehearsals.push_back(steps.largest * factor);
      return fading;
    }
    case Way::two_steps:
      return {Start::founders_first, {1, 1}};
    case Way::live:
      return {Start::live_first, {}};
    case Way::live_and_step:
      return {Start::live_first, {1}};
    case Way::idle:
      return {Start::idle_first, {}};
    case Way::kept:
      return {Start::kept, {}};
    case Way::kept_live:
      return {Start::kept_live, {}};
  }
  return {};
}

const Target& target_of(const TorchModel& recorded, const TorchModel& replayed,
                        std::optional<Bytes> room, Bytes needed) {
  const torch::Settings& a = recorded.settings;
  const torch::Settings& b = replayed.settings;
  if (b.expandable_segments) return a.expandable_segments ? kBothExpandable : kToExpandable;
  if (a.expandable_segments) return kFromExpandable;
  // How much larger a block may be only counts for blocks above the limit.
  const bool other_excess = b.max_split_size != torch::kUnlimited &&
                            a.max_non_split_rounding_size != b.max_non_split_rounding_size;
  if (a.max_split_size != b.max_split_size || other_excess) return kSplitLimit;
  if (a.roundup_power2_divisions != b.roundup_power2_divisions) return kRounding;
  if (b.garbage_collection_threshold > 0 && room && has_limit(b)) return kCollection;
  if (room && *room < needed) return kCapacity;
  return a.large_segment_size != b.large_segment_size ? kSegmentSize : kSameRules;
}

const Target& target_of_others() { return kOthers; }

}  // namespace memreplay
