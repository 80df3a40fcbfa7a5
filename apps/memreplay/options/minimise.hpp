#pragma once

#include "analysis/minimise/question.hpp"
#include "options/command_line.hpp"

namespace memreplay {

/// `convert --minimise` and what belongs to it.
struct MinimiseOption {
  bool wanted = false;
  MinimiseQuestion question;
};

void add_minimise_options(CommandLine& line, MinimiseOption& option);

/// Throws UsageError where an option of --minimise was given without it.
void refuse_without_minimise(const MinimiseOption& option);

}  // namespace memreplay
