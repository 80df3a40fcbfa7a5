#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "replay/trial.hpp"

namespace memreplay {

/// What a small trace shows as the large one did.
enum class Kept {
  fragmentation,  ///< the first OOM, of the same request, enough free but not in one piece
  shortage,       ///< the same with less free than asked for
  unusable,       ///< the same with enough free in one piece, which may not serve it
  gap,            ///< peak reserved - peak allocated, at least 95 % of it
};

enum class Keep {
  automatic,  ///< the first OOM, or the gap where there is none
  oom,
  gap,
};

struct MinimiseOptions {
  TrialOptions trial;
  ReplayOptions replaying;  ///< of the whole trace: start, ignore_empty_cache, cancelled
  Keep keep = Keep::automatic;
  /// Events that it may replay, and some for each replay. What it has by then is the answer.
  std::uint64_t budget = 400'000'000;
  /// Called before each replay with the number of events left.
  std::function<void(std::uint64_t)> trying = {};
};

struct Minimised {
  /// Of plain allocations, frees and marks; written as CSV it needs the texts of its origin.
  Trace trace;
  Kept kept = Kept::gap;
  std::uint64_t events_before = 0;     ///< of the origin
  RunMetrics before;                   ///< of the origin
  RunMetrics after;                    ///< of `trace`
  std::uint64_t pool_ends = 0;         ///< of private pools: no event of `trace` can say it
  std::uint64_t unfinished_frees = 0;  ///< likewise
  std::uint64_t replays = 0;
  bool finished = true;  ///< false: cancelled, or the budget was spent; it could be smaller
};

/// What a trace does under a strategy cannot be shown by its allocations and frees alone, or there
/// is nothing to keep: the text says which.
class NothingToMinimise : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The smallest trace that was found under which `spec` still runs out of memory as it does under
/// the subject's, or else still holds as much more than it charges. Delta debugging (ddmin of
/// Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) over blocks,
/// frees and marks; and since a full device cannot be shown with few of the original blocks,
/// neighbours of one lane are joined into one of both sizes. Every step is judged by a replay of
/// what is left up to the OOM or the reserved peak. `shown_by` is what shows it on the result: the
/// recorded allocator by its settings, for the result has none; else `spec`. Throws
/// NothingToMinimise, and UsageError where the strategy cannot be made.
Minimised minimise(const Subject& subject, const StrategySpec& spec, const StrategySpec& shown_by,
                   const MinimiseOptions& options);

}  // namespace memreplay
