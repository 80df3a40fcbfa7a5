#include "commands.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
#define MEMREPLAY_COMMAND(name, file, arguments, summary, example) \
  {#name, arguments, summary, example, run_##name},
#include "commands.def"
#undef MEMREPLAY_COMMAND
  };
  return kCommands;
}

const Command& command_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    names.emplace_back(command.name);
  }
  const char* what = name.starts_with("-") ? "option" : "command";
  throw UsageError(
      fmt::format("unknown {} '{}'{} (memreplay --help)", what, name, did_you_mean(name, names)));
}

}  // namespace memreplay
