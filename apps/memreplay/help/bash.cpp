#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/candidates.hpp"
#include "help/script.hpp"

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

std::string command_arm(const CommandDescription& description) {
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

}  // namespace

std::string bash_completion(const Descriptions& all) {
  std::string commands;
  std::vector<std::string> names;
  for (const CommandDescription& description : all) {
    commands += command_arm(description);
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

}  // namespace memreplay
