#pragma once

#include <string>
#include <string_view>

#include "help/description.hpp"

namespace memreplay {

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

}  // namespace memreplay
