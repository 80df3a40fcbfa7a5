#include "commands.hpp"

namespace memreplay {

std::span<const Command> commands() {
  static constexpr Command kCommands[] = {
      {"info", "TRACE...", "What does the recording cover, and can it be trusted?", run_info},
      {"replay", "TRACE... [-s S]...", "What happens under this strategy?", run_replay},
      {"compare", "TRACE... [-s S]...", "Strategies side by side, ranked.", run_compare},
      {"verify", "TRACE...", "Does the model give every recorded address and segment?", run_verify},
      {"convert", "IN OUT", "From any format read to CSV.", run_convert},
      {"lint", "CONF|TRACE", "Is this allocator setting valid, and does it fight itself?",
       run_lint},
      {"list", "strategies|formats|metrics [NAME]", "What there is, with options and defaults.",
       run_list},
  };
  return kCommands;
}

}  // namespace memreplay
