#include <fmt/format.h>
#include <fmt/ranges.h>

#include "extensions/shell/script.hpp"

namespace memreplay {
namespace {

// bash begins a new word at ':' and '=', so the line is split by hand, and what stands before the
// last of them is taken off what is offered.
constexpr std::string_view kBash =
    R"(# bash completion for memreplay, written by: memreplay completion bash

# What is known of command $1 and the value of its option $2.
_memreplay_of() {
  case $1 in
@COMMANDS@  esac
}

# What a strategy may go on with, of which $1 is written.
_memreplay_strategy() {
  words='@STRATEGIES@'
  [[ $1 == *:* ]] || return
  local name=${1%%:*} last=${1##*[:,]} keys=
  local written=${1%"$last"}
  case $name in
@KEYS@  esac
  if [[ $last == *=* ]]; then
    written+=${last%%=*}=
    case $name:${last%%=*} in
@VALUES@      *) keys= ;;
    esac
  fi
  words=
  for last in $keys; do words+=" $written$last"; done
}

_memreplay() {
  local line=${COMP_LINE:0:COMP_POINT} words= options= takes=file written= breaks=
  local current=${line##*[[:space:]]} one
  local -a given
  read -ra given <<< "${line%"$current"}"
  if ((${#given[@]} < 2)); then
    words='@NAMES@ help --help --version'
  elif [[ ${given[1]} == help ]]; then
    words='@NAMES@'
  elif [[ $current == --*=* ]]; then
    written=${current%%=*}=
    _memreplay_of "${given[1]}" "${current%%=*}"
    [[ $takes != strategy ]] || _memreplay_strategy "${current#*=}"
  else
    _memreplay_of "${given[1]}" "${given[-1]}"
    if [[ $takes == strategy ]]; then
      _memreplay_strategy "$current"
    elif [[ $current == -* ]]; then
      words=$options
    fi
  fi
  [[ $takes != text ]] || compopt +o default 2> /dev/null
  COMPREPLY=()
  for one in $words; do
    [[ $written$one == "$current"* ]] && COMPREPLY+=("$written$one")
  done
  [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2> /dev/null
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=:
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+==
  [[ $breaks ]] || return 0
  COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[$breaks]}"}"}")
}

complete -o default -F _memreplay memreplay
)";

std::string takes(const Candidates& values) {
  switch (values.kind) {
    case Candidates::Kind::words:
      return fmt::format("words='{}'", spaced(values.words));
    case Candidates::Kind::strategy:
      return "takes=strategy";
    case Candidates::Kind::file:
      return "takes=file";
    default:
      return "takes=text";
  }
}

std::string bash_arm(const CommandDescription& description) {
  std::string names;
  std::string arms;
  for (const OptionDescription& option : all_options(description)) {
    names += ' ' + option.names.back();
    if (!option.takes_next()) continue;
    arms += fmt::format("        {}) {} ;;\n", fmt::join(option.names, "|"),
                        takes(candidates(option.values)));
  }
  const Candidates first = first_argument(description.command->arguments);
  if (first.kind == Candidates::Kind::words) {
    arms += fmt::format("        *) words='{}' ;;\n", spaced(first.words));
  }
  return fmt::format("    {})\n      options='{}'\n      case $2 in\n{}      esac\n      ;;\n",
                     description.command->name, names.substr(1), arms);
}

constexpr std::string_view kFish =
    R"(# fish completion for memreplay, written by: memreplay completion fish

function __memreplay_is
    set -l given (commandline -opc)
    test (count $given) -gt 1; and test "$given[2]" = "$argv[1]"
end

function __memreplay_strategies
    set -l written (commandline -ct | string replace -r '^(--strategy=|-s)' '')
    set -l name (string split -m 1 : -- $written)[1]
    if not string match -q '*:*' -- $written
        printf '%s\n' @STRATEGIES@
        return
    end
    set -l before (string match -r '^.*[:,]' -- $written)
    set -l key (string replace -r '^.*[:,]' '' -- $written | string split -m 1 =)[1]
    if string match -qr '=[^,:]*$' -- $written
        switch $name:$key
@VALUES@        end
    else
        switch $name
@KEYS@        end
    end
end

complete -c memreplay -n __fish_use_subcommand -f -a help -d 'The options of a command'
complete -c memreplay -n __fish_use_subcommand -f -s h -l help -d 'All commands'
complete -c memreplay -n __fish_use_subcommand -f -s V -l version -d 'The version'
complete -c memreplay -n '__memreplay_is help' -f -a '@NAMES@'
)";

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string taken(const OptionDescription& option) {
  if (option.values.empty()) return " -f";
  const Candidates values = candidates(option.values);
  if (!option.takes_next()) return "";
  switch (values.kind) {
    case Candidates::Kind::words:
      return fmt::format(" -x -a '{}'", spaced(values.words));
    case Candidates::Kind::strategy:
      return " -x -a '(__memreplay_strategies)'";
    case Candidates::Kind::file:
      return " -r -F";
    default:
      return " -x";
  }
}

std::string option_line(const OptionDescription& option, std::string_view command) {
  std::string names;
  for (const std::string& name : option.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return fmt::format("complete -c memreplay -n '__memreplay_is {}'{}{} -d {}\n", command, names,
                     taken(option), fish_quoted(option.sentence));
}

std::string command_lines(const CommandDescription& description) {
  const Command& command = *description.command;
  std::string out = fmt::format("\ncomplete -c memreplay -n __fish_use_subcommand -f -a {} -d {}\n",
                                command.name, fish_quoted(command.summary));
  const Candidates first = first_argument(command.arguments);
  if (first.kind == Candidates::Kind::words) {
    out += fmt::format("complete -c memreplay -n '__memreplay_is {}' -f -a '{}'\n", command.name,
                       spaced(first.words));
  }
  for (const OptionDescription& option : all_options(description)) {
    out += option_line(option, command.name);
  }
  return out;
}

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

std::string zsh_arm(const CommandDescription& description) {
  std::string out = fmt::format("    {})\n      _arguments", description.command->name);
  for (const OptionDescription& option : all_options(description)) out += specification(option);
  const Candidates first = first_argument(description.command->arguments);
  if (first.kind == Candidates::Kind::words) {
    out += fmt::format(" \\\n        '1:argument:({})'", spaced(first.words));
  }
  return out + " \\\n        '*:file:_files'\n      ;;\n";
}

}  // namespace

std::string bash_completion(const Descriptions& all) {
  std::string commands;
  std::vector<std::string> names;
  for (const CommandDescription& description : all) {
    commands += bash_arm(description);
    names.emplace_back(description.command->name);
  }
  std::string keys;
  std::string values;
  for (const StrategyKeys& one : strategy_keys()) {
    keys += fmt::format("    {}) keys='{}=' ;;\n", one.strategy, fmt::join(one.names(), "= "));
    for (const auto& [key, words] : one.keys) {
      if (words.empty()) continue;
      values += fmt::format("      {}:{}) keys='{}' ;;\n", one.strategy, key, spaced(words));
    }
  }
  return filled(kBash, {{"COMMANDS", commands},
                        {"STRATEGIES", spaced(strategy_names())},
                        {"KEYS", keys},
                        {"VALUES", values},
                        {"NAMES", spaced(names)}});
}

std::string fish_completion(const Descriptions& all) {
  std::string commands;
  std::vector<std::string> names;
  for (const CommandDescription& description : all) {
    commands += command_lines(description);
    names.emplace_back(description.command->name);
  }
  std::string keys;
  std::string values;
  for (const StrategyKeys& one : strategy_keys()) {
    keys += fmt::format("            case {}\n                printf '%s\\n' {{$before}}{}=\n",
                        one.strategy, fmt::join(one.names(), "= {$before}"));
    for (const auto& [key, words] : one.keys) {
      if (words.empty()) continue;
      const std::string behind = fmt::format(" {{$before}}{}=", key);
      values += fmt::format("            case {}:{}\n                printf '%s\\n'{}{}\n",
                            one.strategy, key, behind, fmt::join(words, behind));
    }
  }
  return filled(kFish, {{"STRATEGIES", spaced(strategy_names())},
                        {"KEYS", keys},
                        {"VALUES", values},
                        {"NAMES", spaced(names)}}) +
         commands;
}

std::string zsh_completion(const Descriptions& all) {
  std::string commands;
  std::string summaries;
  for (const CommandDescription& description : all) {
    const Command& command = *description.command;
    commands += zsh_arm(description);
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
