#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

struct SchemaDocument;

inline constexpr int kDone = 0;
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kUnusable = 2;
inline constexpr int kInterrupted = 130;

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< "TRACE... [-s S]..."
  std::string_view summary;    ///< the question that it answers
  std::string_view example;    ///< what follows "memreplay NAME"
  /// Gets what follows the command on the command line; returns the exit code.
  int (*run)(const Command&, const std::vector<std::string>& arguments);
};

/// Every registered command, in the order of commands.def.
std::span<const Command> commands();
/// Throws UsageError with the nearest known name.
const Command& command_named(const std::string& name);

/// What `record --json` prints, for `list schema`.
std::vector<SchemaDocument> recorded_documents();

}  // namespace memreplay
