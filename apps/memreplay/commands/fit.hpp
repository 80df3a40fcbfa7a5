#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"
#include "questions/fit/fit.hpp"
#include "run/inputs.hpp"

namespace memreplay {

/// What `fit` was asked for on the command line.
struct FitCommand {
  InputOptions input;
  ReplayQuestion run;
  ReportOptions reports;
  std::vector<ChosenCard> cards;
  std::optional<std::uint64_t> budget;
  bool plot = false;
  OutputPath page;
};

/// fit --find: the largest value of a parameter that fits. Returns the exit code. Throws UsageError
/// where the extension what_if is not built.
int find_value(const FitCommand& asked, const Inputs& inputs, Printer& printer, Progress& progress);

}  // namespace memreplay
