#pragma once

#include "options/command_line.hpp"
#include "options/options.hpp"

namespace memreplay {

/// What is asked of a program at a value of its parameter at which it was not recorded.
enum class AskedOfVariation {
  at,    ///< --at: what it does there
  find,  ///< --find: the largest at which it fits
};

/// --vary, which stands in the place of the recordings, and the option that asks.
void add_variation_options(CommandLine& line, InputOptions& options, AskedOfVariation asked);

}  // namespace memreplay
