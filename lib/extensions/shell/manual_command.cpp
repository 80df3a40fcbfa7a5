#include <array>

#include "core/error.hpp"
#include "extensions/shell/script.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/help.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"

namespace memreplay {

int run_manual(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  CommandLine line(command);
  line.positionals("COMMAND", given);
  line.parse(arguments);
  if (given.size() > 1) throw UsageError("one command at a time (memreplay manual [COMMAND])");
  const std::string page =
      given.empty() ? manual_page() : manual_page(describe(command_named(given.front())));
  write_stdout(page, terminal_style());
  return kDone;
}

int run_completion(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  CommandLine line(command);
  line.positionals("SHELL", given);
  line.parse(arguments);
  if (given.size() != 1) throw UsageError("which shell? (memreplay completion bash|zsh|fish)");
  constexpr std::array kWriters = {bash_completion, zsh_completion, fish_completion};
  const auto& script =
      kWriters.at(choice_argument("completion", given.front(), {"bash", "zsh", "fish"}));
  write_stdout(script(describe_commands()), terminal_style());
  return kDone;
}

}  // namespace memreplay
