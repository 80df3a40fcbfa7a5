#pragma once

#include "analysis/recorded/answer.hpp"
#include "options/command_line.hpp"

namespace memreplay {

/// --by and --top: what counts as a place, and how many of them the text shows.
void add_place_options(CommandLine& line, PlaceBy& by, std::size_t& rows);

}  // namespace memreplay
