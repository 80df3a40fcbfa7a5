#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "core/error.hpp"
#include "core/text.hpp"
#include "device/host/malloc_library.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/help.hpp"
#include "line/last_words.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kVersion = MEMREPLAY_VERSION;

void print_text(std::string_view text) { write_stdout(text, terminal_style()); }

int run_command(const std::string& name, const std::vector<std::string>& arguments) {
  const Command& command = command_named(name);
  try {
    const int status = command.run(command, arguments);
    if (status == kInterrupted) write_stderr("interrupted");
    return status;
  } catch (const HelpAsked& asked) {
    print_text(help_text(asked.description, asked.shown));
    return kDone;
  }
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) throw UsageError("no command given (memreplay --help)");
  const std::string first = arguments.front();
  arguments.erase(arguments.begin());
  if (first == "--version" || first == "-V") {
    print_text(fmt::format("memreplay {}\n", kVersion));
    return kDone;
  }
  if (first == "help" && !arguments.empty()) {
    if (arguments.size() > 1) throw UsageError("help of one command at a time (memreplay --help)");
    return run_command(arguments.front(), {"--help"});
  }
  if (first == "--help" || first == "-h" || first == "help") {
    print_text(help_text());
    return kDone;
  }
  return run_command(first, arguments);
}

int complain(std::string_view message) {
  write_stderr(message);
  return kUnusable;
}

/// Some malloc libraries can be loaded only where the loader was told at the start of the program
/// to keep room for them.
int start_again(char** argv, const StaticTlsError& error) {
  const std::string setting = kStaticTlsTunable;
  const std::string name = setting.substr(0, setting.find('='));
  std::string value = setting.substr(name.size() + 1);
  const char* now = std::getenv(name.c_str());
  const std::string tunable = value.substr(0, value.find('='));
  if (now != nullptr && std::string_view(now).find(tunable) != std::string_view::npos) {
    return complain(error.what());
  }
  if (now != nullptr) value = std::string(now) + ':' + value;
  ::setenv(name.c_str(), value.c_str(), 1);
  ::execv("/proc/self/exe", argv);
  return complain(error.what());
}

int guarded(char** argv, const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const StaticTlsError& error) {
    return start_again(argv, error);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const ClosedOutput&) {
    return kDone;
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

/// So that no file that is opened gets the number of a standard stream, and with it our texts. What
/// stands there now refuses what a closed one does.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace
}  // namespace memreplay

int main(int argc, char** argv) {
  memreplay::hold_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  memreplay::prepare_last_words();
  std::ios::sync_with_stdio(false);
  return memreplay::guarded(argv, std::vector<std::string>(argv + 1, argv + argc));
}
