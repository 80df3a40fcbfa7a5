#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "core/control.hpp"
#include "report/parts/text_style.hpp"

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

}  // namespace memreplay
