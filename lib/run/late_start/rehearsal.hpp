#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program.hpp"
#include "device/device_model.hpp"
#include "strategy/strategy.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A block that was there when a recording began.
struct EarlierBlock {
  Slot slot = kNoSlot;
  Request request;          ///< as the program asked for it
  bool pending = false;     ///< its owner was done with it
  bool persistent = false;  ///< the recording never frees it
  /// Its segment was obtained for it. Others ("guests") came later, into cached memory.
  bool founder = false;
};

/// A block of the recording's own requests that its end leaves allocated, or any whose free it
/// leaves pending.
struct LeftBlock {
  Slot slot = kNoSlot;
  bool pending = false;
};

/// What a recording that starts late shows of the time before, whatever it is replayed under.
struct WarmParts {
  std::vector<EarlierBlock> blocks;    ///< by address
  std::vector<std::uint8_t> scalable;  ///< by event: a request that grows with the program's shapes
  std::vector<LeftBlock> left;         ///< in the order of their requests
  std::vector<Request> idle_segments;  ///< one request for each plain large segment of a size of
                                       ///< its own that nothing alive was the reason for
  Bytes reserved = 0;                  ///< when the recording began
  Bytes largest_earlier = 0;           ///< segment that a request before the recording explains
  Bytes largest_scalable = 0;          ///< segment for the largest such request of the recording
};

/// `settings` are those of the recorded allocator. O(events + blocks log blocks).
WarmParts warm_parts(const Trace& trace, const torch::Settings& settings);

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
