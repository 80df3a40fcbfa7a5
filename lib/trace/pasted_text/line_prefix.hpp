#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memreplay {

/// What comes before a line's own words: quotation marks, times, levels, loggers, ranks,
/// containers.
struct LinePrefix {
  std::size_t size = 0;
  std::optional<std::uint64_t> rank;
  std::string_view source;  ///< the container that it names
};

/// `numbered`: lines beside it begin like "3: " too, as srun and mpirun number their tasks.
LinePrefix prefix_of(std::string_view line, bool numbered);

/// Whether a line begins like "3: ".
bool is_numbered(std::string_view line);

}  // namespace memreplay
