#include "line/commands.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

// What each row registers, in the file that it names.
#define MEMREPLAY_COMMAND(name, file, arguments, summary, example) \
  int run_##name(const Command&, const std::vector<std::string>& arguments_given);
#include "registered/commands.def"
#undef MEMREPLAY_COMMAND

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
#define MEMREPLAY_COMMAND(name, file, arguments, summary, example) \
  {#name, arguments, summary, example, run_##name},
#include "registered/commands.def"
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
#define MEMREPLAY_LEFT_OUT(identifier, extension) \
  if (name == #identifier) throw NotBuilt(fmt::format("the command {}", name), extension);
#include "registered/commands_left_out.def"
#undef MEMREPLAY_LEFT_OUT
  const char* what = name.starts_with("-") ? "option" : "command";
  throw UsageError(
      fmt::format("unknown {} '{}'{} (memreplay --help)", what, name, did_you_mean(name, names)));
}

}  // namespace memreplay
