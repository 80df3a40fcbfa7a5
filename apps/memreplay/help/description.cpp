#include "help/description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "options/command_line.hpp"

namespace memreplay {

std::string OptionDescription::names_and_values() const {
  return fmt::format("{}{}{}", fmt::join(names, ", "), takes_next() ? " " : "", values);
}

CommandDescription describe(const Command& command) {
  try {
    command.run(command, {"--help"});
  } catch (const HelpAsked& asked) {
    return asked.description;
  }
  throw std::logic_error(fmt::format("{} --help gives no help", command.name));
}

std::vector<CommandDescription> describe_commands() {
  std::vector<CommandDescription> all;
  for (const Command& command : commands()) all.push_back(describe(command));
  return all;
}

std::vector<OptionDescription> help_options() {
  return {{{"-h", "--help"}, "", "The usual options.", Shown::always},
          {{"--help-all"}, "", "All options.", Shown::always}};
}

}  // namespace memreplay
