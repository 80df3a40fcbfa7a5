#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/answer.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// What margin is enough, were the same steps to come in other orders?
struct StressQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;
  std::optional<std::uint64_t> orders;  ///< unset: see kOrders
  std::uint64_t seed = 1;
  std::uint64_t in_flight = 1;               ///< steps at once
  std::optional<std::uint64_t> step_events;  ///< events in a step; unset: as recorded
  const Inputs* with = nullptr;              ///< whose steps come too; null: none
  unsigned threads = 1;
};

struct Control;
struct StressQuestion;
class Inputs;

/// The share of orders that a margin is to hold.
inline constexpr double kStressShare = 0.999;
/// The chance that a margin holds it, over the orders drawn.
inline constexpr double kStressConfidence = 0.99;
/// Orders where nobody says how many. Long recordings take fewer, down to as many as bound the
/// share with the confidence.
inline constexpr std::uint64_t kOrders = 6000;
inline constexpr std::uint64_t kFewestOrders = 4603;

/// What the steps of a recording are.
enum class StepsFrom : std::uint8_t {
  nowhere,  ///< there are not two that could change their places
  markers,
  annotations,
  repetition,  ///< requests that repeat
  quiet,       ///< parts between moments at which little is live
  count,       ///< so many events each, as asked for
};

/// What of a recording is played in other orders.
struct StressedSteps {
  StepsFrom from = StepsFrom::nowhere;
  std::uint64_t steps = 0;   ///< that change their places
  std::uint64_t others = 0;  ///< steps of other recordings
  bool last_stays = false;   ///< one more; how its blocks end is not in the recording
  std::uint64_t events = 0;  ///< a free counted once
  std::uint64_t events_before = 0, events_behind = 0;  ///< played first, and at the end
  std::uint64_t crossing_blocks = 0;
  Bytes crossing_bytes = 0;
  std::uint64_t lasting_blocks = 0;
  Bytes lasting_bytes = 0;
  std::uint64_t frontiers = 0, pool_ends = 0, unfinished_frees = 0;  ///< left out
};

/// How values are spread over the orders.
struct OrderSpread {
  Bytes least = 0, median = 0, p99 = 0, most = 0;
};

/// What holds `kStressShare` of all orders, by the orders drawn.
struct StressMargin {
  double confidence = 0;
  Bytes peak_reserved = 0;         ///< no more, in so many of all orders
  std::int64_t over_recorded = 0;  ///< over what the recorded order reserves
  std::int64_t over_live = 0;      ///< over what is live at the peak of each order
};

/// One strategy in the recorded order, and in others.
struct StressRun {
  Run recorded;              ///< as the recording is replayed
  Bytes recorded_order = 0;  ///< reserved at its peak, played from its steps
  std::uint64_t orders = 0;  ///< played
  std::uint64_t orders_with_oom = 0;
  OrderSpread reserved;                               ///< at the peak
  std::map<Bytes, std::uint64_t> orders_by_reserved;  ///< the same in full: how many come to it
  OrderSpread live;                                   ///< requested, at the peak
  std::optional<StressMargin> margin;                 ///< unset: too many OOMs, or no order played
};

/// One device of a recording.
struct StressedDevice {
  TraceSummary trace;
  DeviceSummary device;
  std::optional<VerifyRun> model_check;
  bool nothing_requested = false;
  StressedSteps steps;
  std::uint64_t in_flight = 1;
  std::uint64_t orders = 0;  ///< asked for
  std::uint64_t seed = 0;
  std::vector<StressRun> runs;

  bool has_orders() const { return steps.from != StepsFrom::nowhere; }
};

/// What margin is enough for recordings, were their steps to come in other orders.
struct StressAnswer {
  std::vector<StressedDevice> devices;
  bool interrupted = false;

  /// No device has steps that could come in another order.
  bool nothing_to_order() const;
};

/// Plays the steps of every recording in other orders, on each strategy the same ones: see
/// draw_order and work_of. Results do not depend on the number of threads.
/// O(orders * events * strategies). Throws UsageError where a strategy cannot be made.
StressAnswer answer(const Inputs& inputs, const StressQuestion& question, const Control& control);

}  // namespace memreplay
