#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// What a shell can offer for a value.
struct Candidates {
  enum class Kind { words, strategy, file, text };
  Kind kind = Kind::text;  ///< text: only the person knows
  std::vector<std::string> words = {};
};

/// By what the help shows of a value: the words of "auto|cold", the names that "FORMAT", "CARD" or
/// "COMMAND" stand for, files for "F", strategies for "S".
Candidates candidates(std::string_view values);
/// For a command's first argument, a file where nothing else is known: "TRACE... [-s S]...".
Candidates first_argument(std::string_view arguments);

}  // namespace memreplay
