#pragma once

#include <cstdint>

#include "analysis/explain/explain.hpp"
#include "inputs.hpp"
#include "options/options.hpp"
#include "output/terminal.hpp"
#include "report/explain/explain.hpp"

namespace memreplay {

struct ExplainAsked {
  RunOptions run;
  ExplainOptions explain;
  /// Of the replays that look for a setting that helps, altogether; at least eight are made.
  std::uint64_t search_events = 300'000'000;
  std::uint64_t most_settings = 200;
};

/// Why the device of a recording needed what it needed. Throws UsageError where `asked` does not
/// fit the trace.
ExplainReport explained(const Chosen& chosen, const Subject& subject, const ExplainAsked& asked,
                        Progress& progress);

}  // namespace memreplay
