#pragma once

#include <cstdint>
#include <functional>

#include "core/control.hpp"
#include "core/error.hpp"
#include "questions/convert/minimised.hpp"
#include "replay/trial.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"
#include "trace/trace.hpp"

namespace memreplay {

struct MinimiseOptions {
  ReplayOptions replaying;  ///< for the whole trace: device, start, ignore_empty_cache, cancelled
  Keep keep = Keep::automatic;
  std::uint64_t budget = MinimiseQuestion().budget;
  /// Called before each replay with the number of events left.
  std::function<void(std::uint64_t)> trying = {};
};

struct Minimised {
  /// Plain allocations, frees and marks; written as CSV it needs the texts of its origin.
  Trace trace;
  MinimiseAnswer summary;
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
