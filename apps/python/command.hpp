#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/parts/table.hpp"
#include "sources.hpp"

namespace memreplay {

/// The recordings without a file, by the names that the arguments have for them.
using Sources = std::map<std::string, std::shared_ptr<const RecordingSource>>;

struct Asked {
  std::string command;
  std::vector<std::string> arguments;  ///< as on a command line
  Sources sources;
};

/// What a command came to.
struct Ran {
  int status = 0;  ///< the exit code
  /// The answer; unset where the command has none.
  std::optional<std::string> json;
  std::string text;
  std::optional<std::string> markdown;
  std::optional<Table> table;
  std::string output;  ///< what went to standard output beside the answer
  std::vector<std::string> notes;
};

/// Runs a command of the command line, which prints nothing. Ends early, with exit code 130, when
/// `stop` becomes true. Throws what commands throw.
Ran run_command(const Asked& asked, const std::atomic<bool>& stop);

}  // namespace memreplay
