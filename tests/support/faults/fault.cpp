#include "fault.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace memreplay::faults {
namespace {

constexpr int kKinds = static_cast<int>(Kind::kinds);
std::atomic<std::uint64_t> counts[kKinds];
char counts_file[4096];

Kind kind_named(const char* name, std::size_t length) {
  for (int kind = 1; kind < kKinds; ++kind) {
    if (std::strlen(kind_names[kind]) == length &&
        std::strncmp(kind_names[kind], name, length) == 0) {
      return static_cast<Kind>(kind);
    }
  }
  std::abort();
}

// Nothing here may allocate: this runs before the program's own first allocation.
Fault from_environment() {
  const char* text = std::getenv("MEMREPLAY_FAULT");
  if (text == nullptr) return {};
  Fault out;
  const char* colon = std::strchr(text, ':');
  out.kind = kind_named(text, static_cast<std::size_t>(colon - text));
  char* rest = nullptr;
  out.number = std::strtoull(colon + 1, &rest, 10);
  const char* what = rest + 1;
  const char* value = std::strchr(what, '=');
  if (std::strncmp(what, "part", 4) == 0) out.what = What::part;
  if (std::strncmp(what, "full", 4) == 0) out.what = What::full;
  if (std::strncmp(what, "signal", 6) == 0) out.what = What::signal;
  if (std::strncmp(what, "shrink", 6) == 0) out.what = What::shrink;
  out.value = std::atoi(value != nullptr ? value + 1 : what);
  out.on = std::strstr(what, ":on") != nullptr;
  out.named = std::strstr(what, ":named") != nullptr;
  return out;
}

[[gnu::constructor(101)]] void begin() {
  if (const char* file = std::getenv("MEMREPLAY_FAULT_COUNTS")) {
    std::strncpy(counts_file, file, sizeof counts_file - 1);
  }
  fault = from_environment();
}

[[gnu::destructor(101)]] void end() {
  if (counts_file[0] == '\0') return;
  const int file = ::open(counts_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (int kind = 1; kind < kKinds; ++kind) {
    char line[64];
    const int length = std::snprintf(line, sizeof line, "%s %llu\n", kind_names[kind],
                                     static_cast<unsigned long long>(counts[kind].load()));
    if (::write(file, line, static_cast<std::size_t>(length)) < 0) break;
  }
  ::close(file);
}

}  // namespace

const char* const kind_names[] = {"none", "allocation", "open",  "read",  "write", "link",
                                  "stat", "mmap",       "fsync", "close", "thread"};
Fault fault;

bool is_due(Kind kind) {
  const std::uint64_t number = ++counts[static_cast<int>(kind)];
  return kind == fault.kind && (number == fault.number || (fault.on && number > fault.number));
}

}  // namespace memreplay::faults
