#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "line/help.hpp"

namespace memreplay {

using Descriptions = std::vector<CommandDescription>;

// What completes commands, options, their words, and strategies with their keys. Generated whole:
// the scripts ask memreplay nothing.
std::string bash_completion(const Descriptions& all);
std::string zsh_completion(const Descriptions& all);
std::string fish_completion(const Descriptions& all);

// For those who write them.

/// In the single quotes of sh and zsh.
std::string shell_quoted(std::string_view text);
std::string spaced(const std::vector<std::string>& words);
/// The options of a command and those that every command has.
std::vector<OptionDescription> all_options(const CommandDescription& description);
std::vector<std::string> strategy_names();

/// The keys of a strategy, and what a key may be where that is known.
struct StrategyKeys {
  struct Key {
    std::string name;
    std::vector<std::string> words;
  };
  std::string strategy;
  std::vector<Key> keys;

  std::vector<std::string> names() const;
};
/// Only strategies that have keys.
std::vector<StrategyKeys> strategy_keys();

/// `text` with each "@NAME@" replaced.
struct Insert {
  std::string_view name;
  std::string text;
};
std::string filled(std::string_view text, const std::vector<Insert>& inserts);

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
