#include "line/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <new>
#include <string_view>

#include "line/commands.hpp"
#include "line/output_file.hpp"
#include "line/terminal.hpp"

// All of this runs in signal handlers, or without memory: it allocates nothing.
namespace memreplay {
namespace {

/// A text that a signal handler can read.
struct LastWords {
  char text[9000];
  std::size_t length = 0;

  void set(std::string_view words, std::string_view ending);
  std::string_view view() const { return {text, length}; }
};

LastWords recording;    ///< its path, as the beginning of a sentence
LastWords left_behind;  ///< a line

// A terminal is told nothing, whatever it takes other bytes for.
char printable(char c) { return c < ' ' || c > '~' ? '?' : c; }

void LastWords::set(std::string_view words, std::string_view ending) {
  length = 0;  // a signal may come in between
  const std::size_t count = words.empty() ? 0 : std::min(words.size(), sizeof text - ending.size());
  std::ranges::transform(words.substr(0, count), text, printable);
  if (count > 0) std::ranges::copy(ending, text + count);
  length = count > 0 ? count + ending.size() : 0;
}

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void begin_line() {
  if (isatty(STDERR_FILENO) == 1) say("\r\033[K");  // where progress stands
  say("memreplay: ");
}

void tell_left_behind() {
  if (left_behind.length == 0) return;
  begin_line();
  say(left_behind.view());
}

[[noreturn]] void end(std::string_view file, std::string_view what) {
  begin_line();
  say(file);
  say(what);
  tell_left_behind();
  remove_unfinished_files();
  _exit(kUnusable);
}

/// The lines of /proc/self/maps.
class Mappings {
 public:
  Mappings() : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

  /// The file mapped at `address`; empty where there is none.
  std::string_view file_at(std::uintptr_t address) {
    for (char c = 0; read(file_, &c, 1) == 1;) {
      if (c != '\n') {
        if (length_ < sizeof line_) line_[length_++] = c;
        continue;
      }
      const std::string_view line(line_, length_);
      if (holds(line, address)) return file_of(line);
      length_ = 0;
    }
    return {};
  }

 private:
  static bool holds(std::string_view line, std::uintptr_t address) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    const char* last = line.data() + line.size();
    const auto [dash, error] = std::from_chars(line.data(), last, from, 16);
    if (error != std::errc() || dash == last) return false;
    std::from_chars(dash + 1, last, to, 16);
    return from <= address && address < to;
  }

  std::string_view file_of(std::string_view line) {
    const std::size_t path = line.find('/');
    if (path == line.npos) return {};
    std::transform(line_ + path, line_ + line.size(), line_ + path, printable);
    return line.substr(path);
  }

  int file_;
  char line_[5000];  ///< a path, and what stands before it
  std::size_t length_ = 0;
};

void on_bus_error(int signal, siginfo_t* info, void*) {
  const std::string_view file = Mappings().file_at(reinterpret_cast<std::uintptr_t>(info->si_addr));
  if (file.empty()) return end_by(signal);
  end(file, ": became shorter while it was read; expected a file that does not change\n");
}

void on_end(int signal) { end_by(signal); }

void handle(int signal, const struct sigaction& action) {
  struct sigaction now {};
  // nohup, and whoever else had a signal ignored, is obeyed.
  if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) return;
  sigaction(signal, &action, nullptr);
}

// Before anything else of the program: its constants need memory too.
[[gnu::constructor(101)]] void before_all() { std::set_new_handler(end_without_memory); }

}  // namespace

void set_recording(std::string_view path) {
  if (command_host() != nullptr) return;  // its last words are its own
  recording.set(path, ": ");
}

void set_left_behind(std::string_view line) { left_behind.set(line, "\n"); }

void end_without_memory() { end(recording.view(), "out of memory\n"); }

void end_by(int signal) {
  remove_unfinished_files();
  tell_left_behind();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void prepare_last_words() {
  struct sigaction action {};
  action.sa_handler = on_end;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, action);
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  handle(SIGBUS, action);
}

}  // namespace memreplay
