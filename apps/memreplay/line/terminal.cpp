#include "line/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "core/text.hpp"
#include "line/last_words.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

thread_local CommandHost* current = nullptr;

using namespace std::chrono_literals;

std::atomic<bool> interrupt_seen{false};

void on_interrupt(int signal) {
  if (interrupt_seen.exchange(true, std::memory_order_relaxed)) end_by(signal);
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The first of these that says something decides, as for every program.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = lower_case(std::string(environment(name)));
    if (locale.empty()) continue;
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

std::size_t columns_of(int terminal) {
  winsize size{};
  if (ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
  return parse_whole(environment("COLUMNS")).value_or(TextStyle().width);
}

// The terminal's, within reason; what goes elsewhere has the usual one.
std::size_t text_width() {
  if (!stdout_is_terminal()) return TextStyle().width;
  constexpr std::size_t kLeast = 60;
  constexpr std::size_t kMost = 120;
  return std::clamp(columns_of(STDOUT_FILENO), kLeast, kMost);
}

std::size_t screen_height() {
  winsize size{};
  if (!stdout_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row;
}

}  // namespace

const std::atomic<bool>& interrupted() { return interrupt_seen; }

void watch_for_interrupt() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool stdout_is_terminal() { return command_host() == nullptr && isatty(STDOUT_FILENO) == 1; }

TextStyle terminal_style(Colour colour) {
  const bool wanted =
      stdout_is_terminal() && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.colour = colour == Colour::always || (colour == Colour::automatic && wanted),
          .unicode = locale_is_utf8(),
          .width = text_width(),
          .height = screen_height()};
}

TextStyle stderr_style() { return terminal_style(Colour::never); }

Progress::Progress(bool quiet)
    : enabled_(!quiet && command_host() == nullptr && isatty(STDERR_FILENO) == 1),
      next_(std::chrono::steady_clock::now() + 1s) {}

void Progress::show(const std::string& what, double share) {
  if (!enabled_) return;
  const bool ends = shown_ && share >= 1;  // the last word is said in any case
  if (!ends && std::chrono::steady_clock::now() < next_) return;
  // A line that is full would be continued on the next one, which nothing clears.
  constexpr std::size_t kShare = 7;
  const std::size_t room = std::max(columns_of(STDERR_FILENO), kShare) - kShare;
  const std::string line = terminal_line(what, stderr_style()).substr(0, room);
  std::cerr << fmt::format("\r\033[K{:3.0f} % {}", share * 100, line) << std::flush;
  shown_ = true;
  next_ = std::chrono::steady_clock::now() + 100ms;
}

Control Progress::control() {
  if (command_host() != nullptr) return {.stop = &command_host()->stop()};
  watch_for_interrupt();
  return {.stop = &interrupted(),
          .progress = [this](const std::string& what, double share) { show(what, share); }};
}

void Progress::clear() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

CommandHost* command_host() { return current; }

CommandHostScope::CommandHostScope(CommandHost& host) { current = &host; }

CommandHostScope::~CommandHostScope() { current = nullptr; }

}  // namespace memreplay
