#pragma once

#include <string>

#include "line/command_line.hpp"
#include "line/options.hpp"
#include "program/facts.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// What `--device` names: "sim", "host", "cuda" or "cuda:N". Throws UsageError.
DeviceChoice device_argument(const std::string& text);

/// --by and --top: what counts as a place, and how many of them the text shows.
void add_place_options(CommandLine& line, PlaceBy& by, std::size_t& rows);

// ReadOptions::most_in_memory of a command whose answer comes from events in their order.

/// So few events are read in less time than it takes to read and replay them side by side.
constexpr std::uint64_t kMostReadOnce = 1 << 17;
/// So few are held for who replays them many times: it need not decode them each time.
constexpr std::uint64_t kMostReplayed = 1 << 22;

/// Whether replays as asked for can be made so: nothing looks at events otherwise than in turn.
bool can_leave_in_file(const ReplayQuestion& question, const RunPaths& paths = {});

/// What is asked of a program at a value of its parameter at which it was not recorded.
enum class AskedOfVariation {
  at,    ///< --at: what it does there
  find,  ///< --find: the largest at which it fits
};

/// --vary, which stands in the place of the recordings, and the option that asks.
void add_variation_options(CommandLine& line, InputOptions& options, AskedOfVariation asked);

}  // namespace memreplay
