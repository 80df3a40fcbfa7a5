#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "line/commands.hpp"

namespace memreplay {

/// Where an option stands in the help.
enum class Shown { always, in_help_all };

/// How the help shows what an option takes says what that is: words in lower case are meant
/// literally, capitals stand for something (`candidates` in help/script.hpp).
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

/// What holds for every command: how sizes read, what TRACE may be.
inline constexpr std::string_view kArgumentsSentence =
    "Sizes read 24GiB, 24G (= GiB), 512MiB, 1000 (bytes). TRACE - is standard input.";

struct ExitCode {
  int code;
  std::string_view meaning;
};
inline constexpr ExitCode kExitCodes[] = {{kDone, "done"},
                                          {kAnswerIsNo, "the answer is no"},
                                          {kUnusable, "wrong usage or input"},
                                          {kInterrupted, "Ctrl-C"}};

/// What --help prints: all commands.
std::string help_text();
/// What --help, or --help-all, of a command prints.
std::string help_text(const CommandDescription& description, Shown shown);

/// memreplay.1 and memreplay-COMMAND.1, in the macros of man(7).
std::string manual_page();
std::string manual_page(const CommandDescription& description);

}  // namespace memreplay
