#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/late_start/parts.hpp"
#include "core/program.hpp"
#include "device/device_model.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// A guess at how a strategy came to where a recording starts.
struct Preparation {
  enum class Start {
    kept,            ///< the recorded state as it was, under other rules
    kept_live,       ///< only its segments that hold a block
    founders_first,  ///< what came early, and later what was put into cached memory
    idle_first,      ///< founders, the requests that once had the idle segments, the other blocks
  };
  Start start = Start::founders_first;
  /// The recording's requests are played beforehand once for each, larger or smaller by it.
  std::vector<double> rehearsals;

  friend auto operator<=>(const Preparation&, const Preparation&) = default;
};

/// What every preparation of one recording goes by.
struct WarmScript {
  const Program& rehearsed;  ///< all of the recording
  const Program& measured;   ///< what of it is asked for
  const WarmParts& parts;
  /// The event before which the first rehearsal begins: where a step does.
  std::uint64_t begins_at = 0;
  /// Before it in the first rehearsal what came later than the first step is requested: where an
  /// optimizer makes its state. At the end where it is beyond it.
  std::uint64_t guests_at = UINT64_MAX;
};

/// Brings one strategy to the start of a recording, step by step.
class Rehearsal {
 public:
  /// Where the blocks lie is kept in `placed`, by slot. All outlive this.
  Rehearsal(const WarmScript& script, Strategy& strategy, DeviceModel& device,
            std::span<Placement> placed)
      : script_(script), strategy_(strategy), device_(device), placed_(placed) {}

  /// Everything that the preparation asks for, but for its first rehearsals, of which so many are
  /// `done`. False: this strategy cannot take over a state.
  bool prepare(const Preparation& preparation, std::size_t done = 0);

  std::uint64_t refused() const { return refused_; }  ///< requests so far

 private:
  bool begin(Preparation::Start start, bool rehearsed);
  bool adopt(bool live_only);
  void place(const EarlierBlock& block);
  template <typename Which>
  void place_all(const Which& which);
  void hold_idle_segments();
  void place_alive();
  void rehearse(double factor, bool first);
  void play(double factor, std::uint64_t from, std::uint64_t to);
  void play_event(std::uint64_t event, double factor);
  void clear_left();

  const WarmScript& script_;
  Strategy& strategy_;
  DeviceModel& device_;
  std::span<Placement> placed_;
  std::uint64_t refused_ = 0;
};

}  // namespace memreplay
