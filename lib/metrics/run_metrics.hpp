#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/call_times.hpp"
#include "core/real_use.hpp"
#include "core/request.hpp"
#include "core/units.hpp"

namespace memreplay {

/// A request that was not served, and the memory at that moment.
struct OomPlace {
  /// Who refused it: the device of the replay, or, where nobody knows how large that is, the
  /// recorded one alone. Then only what is free inside is counted.
  enum class RefusedBy { replayed, recorded };
  std::uint64_t event = 0;
  Bytes requested = 0;
  Bytes free = 0;  ///< inside what the strategy holds, and what it may still take from the device
  Bytes largest_free = 0;
  Bytes live = 0;  ///< requested bytes of live blocks
  RefusedBy told = RefusedBy::replayed;
  Bytes allocated = 0;  ///< the same after the strategy's rounding
  Bytes held = 0;       ///< by the strategy, of the device
  Bytes device_free = 0;
  Bytes obtainable = UINT64_MAX;  ///< what a limit of its own leaves the strategy to take
};

/// Times that were measured, by the host's clock where nothing else is said.
struct MeasuredTimes {
  Durations ops;       ///< requests and frees of blocks, whole
  Durations strategy;  ///< `ops` without what the device took
  TimesByKind calls;   ///< to the driver of a real device

  /// The time that the driver took altogether, the work on blocks aside.
  std::uint64_t driver_ns() const {
    std::uint64_t ns = 0;
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      const bool work = kind == static_cast<std::size_t>(CallKind::fill) ||
                        kind == static_cast<std::size_t>(CallKind::check);
      if (!work) ns += calls[kind].host.sum();
    }
    return ns;
  }
  /// Adds the times of another replay to these.
  void add(const MeasuredTimes& other) {
    ops.add(other.ops);
    strategy.add(other.strategy);
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      calls[kind].host.add(other.calls[kind].host);
      calls[kind].device.add(other.calls[kind].device);
    }
  }
};

/// The outcome of a replay on real memory, beside its bytes.
struct RealUse {
  MeasuredMemory memory;
  TouchedBlocks touched;
  std::uint64_t not_adopted = 0;  ///< regions from before the recording without memory
};

/// Interval in which a value lies that the recording does not determine. Both ends included.
struct BytesInterval {
  Bytes low = 0;
  Bytes high = 0;

  void include(Bytes value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// What is on the device once a pool sleeps, or before it wakes: see SleepWatch.
struct PoolSleep {
  std::uint64_t event = 0;
  PoolId pool;
  bool wakes = false;
  Bytes asleep = 0;           ///< size of all pools asleep then
  Bytes residue = 0;          ///< what is reserved for none of them
  std::optional<Bytes> free;  ///< room for others; unset: the device is endless
  Bytes missing = 0;          ///< what a wake does not find on a simulated device
};

/// The numbers of one replay of one trace under one strategy. Words as in lib/README.md.
struct RunMetrics {
  Bytes peak_requested = 0;
  Bytes peak_asked = 0;      ///< peak_requested with the recorded OOMs that are served here
  Bytes peak_allocated = 0;  ///< MaxInUse
  Bytes peak_reserved = 0;
  Bytes gap_at_peak_reserved = 0;
  Bytes end_requested = 0;
  Bytes end_allocated = 0;
  Bytes end_reserved = 0;
  double internal_fragmentation = 0;  ///< 1 - requested / allocated at the allocated peak
  double external_fragmentation = 0;  ///< 1 - largest free / all free at the reserved peak
  Bytes lower_bound = 0;              ///< peak of live bytes under the strategy's rounding
  std::uint64_t allocs = 0;
  std::uint64_t ooms = 0;
  std::uint64_t oom_retries = 0;
  std::optional<OomPlace> first_oom;
  std::uint64_t recorded_ooms_served = 0;  ///< requests that the recorded program was refused
  std::uint64_t device_allocs = 0;
  std::uint64_t device_frees = 0;
  std::uint64_t device_maps = 0;
  std::uint64_t device_unmaps = 0;
  std::uint64_t syncs = 0;
  std::uint64_t stream_waits = 0;
  std::uint64_t segments_peak = 0;
  std::uint64_t segments_end = 0;
  double replay_seconds = 0;           ///< the median, where it was repeated
  std::vector<double> repeat_seconds;  ///< one for every measured replay; empty: there was one
  std::uint64_t events = 0;            ///< replayed, driver events not counted
  double modelled_device_seconds = 0;
  double stall_seconds = 0;            ///< modelled time of transfers that the strategy needed
  std::uint64_t moved_out_blocks = 0;  ///< live ones that left the device
  Bytes moved_out = 0;                 ///< allocated bytes of them
  bool clairvoyant = false;            ///< placed with the trace's future known
  std::optional<MeasuredTimes> times;
  std::optional<RealUse> real;  ///< unset for a simulated device
  std::vector<PoolSleep> sleeps;
  std::vector<std::pair<std::string, std::int64_t>> counters;
  std::vector<std::string> remarks;  ///< sentences without which the numbers would mislead

  Bytes gap() const { return peak_reserved - peak_allocated; }
  /// 0 where the strategy has none of this name.
  Bytes counter(std::string_view name) const {
    for (const auto& [known, value] : counters) {
      if (known == name) return static_cast<Bytes>(value);
    }
    return 0;
  }
};

/// Bounds of a run that the recording does not determine.
struct RunInterval {
  BytesInterval peak_reserved;
  BytesInterval end_reserved;
  std::optional<BytesInterval> peak_requested = {};  ///< unset: the recording determines it
};

/// What a replay came to so far; none of it ever falls.
struct RunSoFar {
  std::uint64_t ooms = 0;
  std::uint64_t oom_retries = 0;
  Bytes peak_reserved = 0;
  std::uint64_t device_calls = 0;
};

}  // namespace memreplay
