#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/control.hpp"
#include "metrics/run_metrics.hpp"
#include "report/parts/text_style.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"
#include "trace/trace.hpp"

namespace memreplay {

enum class Keep {
  automatic,  ///< the first OOM, or the gap where there is none
  oom,
  gap,
};

/// Which small trace shows the same under a strategy?
struct MinimiseQuestion {
  Keep keep = Keep::automatic;
  /// Events that may be replayed, and some for each replay. What there is by then is the answer.
  std::uint64_t budget = 400'000'000;
};

/// What a small trace shows as the large one did.
enum class Kept {
  fragmentation,  ///< the first OOM, of the same request, enough free but not in one piece
  shortage,       ///< the same with less free than asked for
  unusable,       ///< the same with enough free in one piece, which may not serve it
  gap,            ///< peak reserved - peak allocated, at least 95 % of it
};

/// What became of a trace that was made small.
struct MinimiseAnswer {
  Kept kept = Kept::gap;
  std::uint64_t events_before = 0;  ///< in the origin
  std::uint64_t events = 0;         ///< in the small trace
  RunMetrics before;                ///< the origin's
  RunMetrics after;                 ///< the small trace's
  std::uint64_t pool_ends = 0;      ///< ends of private pools, left out: no event can express them
  std::uint64_t unfinished_frees = 0;  ///< likewise
  std::uint64_t replays = 0;
  bool finished = true;  ///< false: cancelled, or the budget was spent; it could be smaller
  std::string shown_by;  ///< the strategy that shows it on the small trace
  std::vector<std::string> arguments;  ///< arguments of `memreplay replay` after the small trace
};

struct MinimisedRecording {
  Recording recording;    ///< one small trace of plain requests, as if read from a CSV
  StrategySpec shown_by;  ///< under which the small trace shows the same
  MinimiseAnswer answer;
};

/// A small trace that shows what `trace` of the recording does under `spec`. After an interruption
/// as small as it was by then. Throws as minimise does, and UsageError where the
/// extension is not built.
MinimisedRecording minimised(const Recording& recording, const Trace& trace,
                             const StrategySpec& spec, const Setup& setup,
                             const MinimiseQuestion& question, const Control& control);

/// What a small trace shows, and the command that shows it on the file `target` ("-": one still to
/// be named).
std::string to_text(const MinimiseAnswer& answer, const std::string& target,
                    const TextStyle& style = {});

}  // namespace memreplay
