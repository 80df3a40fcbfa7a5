#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "core/control.hpp"
#include "report/formats/format.hpp"
#include "report/parts/text_style.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Becomes true at the first Ctrl-C; a second one ends the program.
const std::atomic<bool>& interrupted();
void watch_for_interrupt();

bool stdout_is_terminal();

enum class Colour { automatic, always, never };

/// Automatically colour where standard output is a terminal that wants it (NO_COLOR, TERM); more
/// than ASCII where the locale is one of UTF-8; as wide as the terminal, from 60 to 120 columns.
TextStyle terminal_style(Colour colour = Colour::automatic);
/// For messages on standard error.
TextStyle stderr_style();

/// How far long work is: on standard error, when that is a terminal, after one second.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what, double share);
  void clear();
  /// Ends work at Ctrl-C and shows how far it is. Lives as long as this.
  Control control();

 private:
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

/// Who runs a command to have its answer as values, in place of a person at a terminal. Called on
/// the thread that runs the command, `at_hand` on any.
class CommandHost {
 public:
  virtual ~CommandHost() = default;
  /// The answer. Its parts are to be asked for during the call.
  virtual void answered(const ReportParts& parts) = 0;
  /// What stands for standard output.
  virtual std::ostream& output() = 0;
  /// A line of what goes to standard error.
  virtual void note(std::string_view message) = 0;
  /// Becomes true to end the work.
  virtual const std::atomic<bool>& stop() const = 0;
  /// The recording that it calls `path`, unset where that is a file.
  virtual std::optional<Recording> at_hand(const std::string& path) = 0;
};

/// Runs the commands of this thread; null: a terminal.
CommandHost* command_host();

/// While it lives, the commands that this thread runs speak to `host` alone.
class CommandHostScope {
 public:
  explicit CommandHostScope(CommandHost& host);
  ~CommandHostScope();
  CommandHostScope(const CommandHostScope&) = delete;
  CommandHostScope& operator=(const CommandHostScope&) = delete;
};

}  // namespace memreplay
