#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace memreplay {

/// Where an option stands in the help.
enum class Shown { always, in_help_all };

/// How the help shows what an option takes says what that is: words in lower case are meant
/// literally, capitals stand for something (`candidates` in help/candidates.hpp).
struct OptionDescription {
  std::vector<std::string> names;  ///< "-s", "--strategy"
  std::string values;              ///< "auto|cold"; empty: none; "[=F]": none, or a file after =
  std::string sentence;
  Shown shown = Shown::always;
  bool repeats = false;  ///< may be given any number of times

  /// "-s, --strategy S"
  std::string names_and_values() const;
  bool takes_next() const { return !values.empty() && values.front() != '['; }
};

struct OptionGroup {
  std::string title;
  std::vector<OptionDescription> options;
};

/// What help, manual page and completions are written from.
struct CommandDescription {
  const Command* command;
  std::vector<OptionGroup> groups;  ///< in the order of the help
};

CommandDescription describe(const Command& command);
/// Every registered command, in the order of commands.def.
std::vector<CommandDescription> describe_commands();
/// --help and --help-all, which every command has and no description names.
std::vector<OptionDescription> help_options();

}  // namespace memreplay
