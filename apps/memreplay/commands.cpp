#include "commands.hpp"

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

}  // namespace memreplay
