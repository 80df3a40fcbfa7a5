#pragma once

#include <atomic>
#include <cstdint>

namespace memreplay::faults {

enum class Kind {
  none,
  allocation,
  open,
  read,
  write,
  link,
  stat,
  mmap,
  fsync,
  close,
  thread,
  kinds
};
enum class What { error, part, signal, shrink, full };

/// What is to go wrong, from MEMREPLAY_FAULT=KIND:NUMBER:WHAT[:on]
///   KIND    a name of kind_names
///   NUMBER  which call of that kind, from 1; of `full` the bytes that still fit
///   WHAT    an errno by its number; `part`: half of what was asked for; `signal=N`: that signal
///           right before the call; `shrink=N`: the file mapped is cut to N bytes; `full`
///   :on     every call from there on, not that one alone
///   :named  beside it, on a file system that has no files without names (O_TMPFILE)
/// With MEMREPLAY_FAULT_COUNTS=FILE the number of calls of each kind is written there at the end.
struct Fault {
  Kind kind = Kind::none;
  std::uint64_t number = 0;
  What what = What::error;
  int value = 0;
  bool on = false;
  bool named = false;
};

extern const char* const kind_names[];
extern Fault fault;

/// Counts a call; true where it is the one that is to go wrong. Safe in signal handlers.
bool is_due(Kind kind);

}  // namespace memreplay::faults
