#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/made_facts.hpp"
#include "questions/fit/answer.hpp"
#include "run/answer.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// The largest value of a program's parameter at which it fits a device.
struct FindQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;  ///< with the capacity of the device, unless there are cards
  /// On each; where no reserve is given, the context is one.
  std::vector<ChosenCard> cards;
  Variation variation;
  std::vector<std::string> edits;  ///< made to what is predicted
  std::optional<int> gpu;
  bool plotted = false;  ///< the curves, too
};

struct Control;
struct FindQuestion;
class Inputs;

/// A program at one value of its parameter under one strategy, on the device that needs most.
struct ValueTried {
  std::int64_t value = 0;
  bool recorded = false;      ///< at that very value
  bool fits = false;          ///< on the device in question, by the most that it may need
  bool may_fit = false;       ///< by the least
  bool usually_fits = false;  ///< by what is likeliest, beside what is usually set aside
  Bytes peak_requested = 0;   ///< all on an endless device
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  /// Unset: the rules settle it.
  std::optional<RunInterval> interval = {};
  std::uint64_t oom_retries = 0;  ///< on the device in question, where it fits there
};

/// What one strategy comes to on one device.
struct FoundValue {
  std::string strategy;
  DeviceSummary device;
  /// Unset: not even 1 fits, or nothing larger than 1 was tried.
  std::optional<std::int64_t> largest;
  /// The largest value above it that may fit; unset: none.
  std::optional<std::int64_t> may_fit = {};
  /// The largest one beside what is usually set aside; unset: that is all that may be.
  std::optional<std::int64_t> usually = {};
  bool unbounded = false;    ///< it fits however large it is, as far as was looked
  bool interrupted = false;  ///< a larger one may fit
  /// A larger value fits than one that does not.
  std::optional<std::int64_t> fails_below = {};
  std::vector<ValueTried> tried = {};  ///< ascending
};

/// A recorded value, predicted from the other recordings under the first strategy.
struct HeldBack {
  std::int64_t value = 0;
  Bytes requested = 0, requested_predicted = 0;
  Bytes reserved = 0, reserved_predicted = 0;
};

struct FindAnswer {
  PredictionFacts facts;         ///< about the largest value that was found first
  std::vector<EditFacts> edits;  ///< made there
  std::vector<FoundValue> found;
  std::vector<HeldBack> held_back;    ///< empty with fewer than three recordings
  Bytes reserve = 0;                  ///< held by others on every device
  std::optional<SetAside> set_aside;  ///< the reserve, with the bounds of all cards; unset: none
  bool plotted = false;               ///< asked for as plots too
  bool interrupted = false;

  bool all_fit() const;  ///< at some value each
};

/// For each strategy on each device by doubling and bisection, then the values above: the need of a
/// program may fall where it takes another course. `inputs` are the recordings. Throws UsageError
/// where no device is given. A prediction and some replays for each value tried.
FindAnswer answer(const Inputs& inputs, const FindQuestion& question, const Control& control);

}  // namespace memreplay
