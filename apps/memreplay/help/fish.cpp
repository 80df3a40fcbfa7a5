#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/candidates.hpp"
#include "help/script.hpp"

namespace memreplay {
namespace {

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

std::string quoted(std::string_view text) {
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
                     taken(option), quoted(option.sentence));
}

std::string command_lines(const CommandDescription& description) {
  const Command& command = *description.command;
  std::string out = fmt::format("\ncomplete -c memreplay -n __fish_use_subcommand -f -a {} -d {}\n",
                                command.name, quoted(command.summary));
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

}  // namespace

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

}  // namespace memreplay
