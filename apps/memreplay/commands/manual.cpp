#include "help/manual.hpp"

#include "commands.hpp"
#include "core/error.hpp"
#include "options/command_line.hpp"
#include "output/output_file.hpp"
#include "output/terminal.hpp"

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

}  // namespace memreplay
