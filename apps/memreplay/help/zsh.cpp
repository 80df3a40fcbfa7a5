#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/candidates.hpp"
#include "help/script.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kZsh = R"(#compdef memreplay
# zsh completion for memreplay, written by: memreplay completion zsh

_memreplay_strategy() {
  local name=${PREFIX%%:*} key
  local -a words
  if ! compset -P 1 '*:'; then
    words=(@STRATEGIES@)
    compadd -q -S : -- $words
    return
  fi
  compset -P '*,'
  key=${PREFIX%%=*}
  if ! compset -P 1 '*='; then
    case $name in
@KEYS@    esac
    compadd -S = -- $words
    return
  fi
  case $name:$key in
@VALUES@  esac
  compadd -q -S , -- $words
}

_memreplay_commands() {
  local -a commands
  commands=(
@SUMMARIES@  )
  _describe command commands
}

_memreplay() {
  if ((CURRENT == 2)); then
    _alternative 'commands:command:_memreplay_commands' \
      'words:option:(help --help --version)'
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
    help) _memreplay_commands ;;
@COMMANDS@    *) _files ;;
  esac
}

if [[ $funcstack[1] == _memreplay ]]; then
  _memreplay "$@"
else
  compdef _memreplay memreplay
fi
)";

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string action(const Candidates& values) {
  switch (values.kind) {
    case Candidates::Kind::words:
      return fmt::format("({})", spaced(values.words));
    case Candidates::Kind::strategy:
      return "_memreplay_strategy";
    case Candidates::Kind::file:
      return "_files";
    default:
      return " ";
  }
}

/// The specification of _arguments, without the name that begins it.
std::string behind_name(const OptionDescription& option) {
  std::string out = fmt::format("[{}]", escaped(option.sentence, "[]:"));
  if (option.values.empty()) return out;
  return out + fmt::format("{}{}:{}", option.takes_next() ? ":" : "::",
                           escaped(option.takes_next() ? option.values : "F", ":"),
                           action(candidates(option.values)));
}

std::string_view sign(const OptionDescription& option, bool long_name) {
  if (option.values.empty()) return "";
  if (!option.takes_next()) return "=-";
  return long_name ? "=" : "+";
}

std::string specification(const OptionDescription& option) {
  std::string out;
  const std::string others = option.repeats ? "*" : fmt::format("({})", spaced(option.names));
  for (const std::string& name : option.names) {
    out += " \\\n        " +
           shell_quoted(fmt::format("{}{}{}{}", others, name, sign(option, name.starts_with("--")),
                                    behind_name(option)));
  }
  return out;
}

std::string command_arm(const CommandDescription& description) {
  std::string out = fmt::format("    {})\n      _arguments", description.command->name);
  for (const OptionDescription& option : all_options(description)) out += specification(option);
  const Candidates first = first_argument(description.command->arguments);
  if (first.kind == Candidates::Kind::words) {
    out += fmt::format(" \\\n        '1:argument:({})'", spaced(first.words));
  }
  return out + " \\\n        '*:file:_files'\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const Descriptions& all) {
  std::string commands;
  std::string summaries;
  for (const CommandDescription& description : all) {
    const Command& command = *description.command;
    commands += command_arm(description);
    summaries += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", command.name,
                                                                  escaped(command.summary, ":"))));
  }
  std::string keys;
  std::string values;
  for (const StrategyKeys& one : strategy_keys()) {
    keys += fmt::format("      {}) words=({}) ;;\n", one.strategy, spaced(one.names()));
    for (const auto& [key, words] : one.keys) {
      if (words.empty()) continue;
      values += fmt::format("    {}:{}) words=({}) ;;\n", one.strategy, key, spaced(words));
    }
  }
  return filled(kZsh, {{"STRATEGIES", spaced(strategy_names())},
                       {"KEYS", keys},
                       {"VALUES", values},
                       {"SUMMARIES", summaries},
                       {"COMMANDS", commands}});
}

}  // namespace memreplay
