#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/event.hpp"
#include "replay/trial.hpp"

/// One recording under two strategies: where do they part? Their addresses are not comparable;
/// what they hold, whom they serve and how often they call the device is.
namespace memreplay {

/// What a strategy holds right after an event.
struct Holding {
  bool refused = false;  ///< the request of this event
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes reserved = 0;
  Bytes free = 0;  ///< inside what it holds
  Bytes largest_free = 0;
  std::uint64_t device_calls = 0;  ///< so far
};

/// Both at one event.
struct Parting {
  std::uint64_t event = 0;
  Op op = Op::allocate;
  std::uint64_t step = 0;  ///< 0: before the first, or no steps
  Bytes size = 0;          ///< of the request, or of the block freed; 0: it concerns none
  StreamIndex stream = 0;
  std::string place;  ///< of a request; empty: no stack was recorded
  std::array<Holding, 2> holds;
};

/// One side reserves more than the other in all events [from, to).
struct Lead {
  std::size_t more = 0;  ///< which side
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Parting furthest;  ///< the first event with the largest difference

  Bytes difference() const {
    return furthest.holds[more].reserved - furthest.holds[1 - more].reserved;
  }
};

struct StrategiesDiff {
  std::array<ReplayResult, 2> runs;
  std::array<std::string, 2> inexact_because;   ///< empty: the recording determines the run
  std::optional<std::uint64_t> allocated_from;  ///< first event with other allocated bytes
  std::optional<Parting> reserved;              ///< first event with other reserved bytes
  std::optional<Parting> device_calls;          ///< first event with another number of calls so far
  std::optional<Parting> served;                ///< first request that only one of them serves
  std::optional<Lead> lead;                     ///< nothing: they always reserve the same
  std::uint64_t events_a_more = 0;              ///< events after which the first reserves more
  std::uint64_t events_b_more = 0;
  bool finished = true;  ///< false: cancelled, and only `runs` mean something

  /// The first event at which they hold, serve or do something else; null where they never part.
  const Parting* first() const;
};

/// Four replays; 25 bytes an event for each strategy. Throws UsageError where one cannot be made.
StrategiesDiff diff_strategies(const Subject& subject, const std::array<StrategySpec, 2>& specs,
                               const TrialOptions& options, const ReplayOptions& replaying);

}  // namespace memreplay
