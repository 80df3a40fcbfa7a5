#pragma once

#include <string>

#include "analysis/minimise/minimise.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"

namespace memreplay {

/// `convert --minimise` and what belongs to it.
struct MinimiseAsked {
  bool wanted = false;
  Keep keep = Keep::automatic;
  std::uint64_t budget = MinimiseOptions().budget;
};

void add_minimise_options(CommandLine& line, MinimiseAsked& asked);

/// Throws UsageError where an option of --minimise was given without it.
void refuse_without_minimise(const MinimiseAsked& asked);

struct MinimisedRecording {
  Recording recording;    ///< one small trace of plain requests, as if read from a CSV
  StrategySpec shown_by;  ///< under which it shows the same
};

/// A small trace for a file called `target`; says on standard output (or standard error, where that
/// is the target) what it shows and by which command. After Ctrl-C as far as it came. Throws
/// UsageError.
MinimisedRecording minimised(const Recording& recording, const Trace& trace,
                             const MinimiseAsked& asked, const RunOptions& run,
                             const std::string& target);

}  // namespace memreplay
