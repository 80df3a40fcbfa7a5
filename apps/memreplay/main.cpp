#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <iostream>

#include "command_line.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "output_file.hpp"
#include "report/table.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kVersion = MEMREPLAY_VERSION;

std::string help() {
  std::string out =
      "memreplay COMMAND ...   replays recorded allocations against any allocator\n\n";
  for (const Command& command : commands()) {
    out += fmt::format("  {:<8} {:<34} {}\n", command.name, command.arguments, command.summary);
  }
  std::string names;
  for (const StrategyInfo& info : strategies()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  out += "\nStrategies (-s NAME or -s NAME:key=value,...; memreplay list strategies NAME):\n  " +
         wrapped(names, 2) + "\n";
  out +=
      "\nSizes read 24GiB, 24G (= GiB), 512MiB, 1000 (bytes). A TRACE of - is standard input.\n"
      "Exit codes: 0 done; 1 the answer is no; 2 wrong usage or input; 130 after Ctrl-C.\n"
      "\n  memreplay COMMAND --help   the options of a command\n"
      "  memreplay --version        the version\n";
  return out;
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

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) throw UsageError("no command given (memreplay --help)");
  const std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "--version") {
    write_stdout(fmt::format("memreplay {}\n", kVersion));
    return kDone;
  }
  if (first == "--help" || first == "-h") {
    write_stdout(help());
    return kDone;
  }
  const Command& command = command_named(first);
  try {
    return command.run(command, arguments);
  } catch (const HelpAsked& asked) {
    write_stdout(asked.what());
    return kDone;
  }
}

int complain(std::string_view message) {
  std::cerr << "memreplay: " << message << '\n';
  return kUnusable;
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const std::bad_alloc&) {
    return complain("out of memory");
  } catch (const ClosedOutput&) {
    return kDone;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

}  // namespace
}  // namespace memreplay

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  return memreplay::guarded(std::vector<std::string>(argv + 1, argv + argc));
}
