#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memreplay::capture {

using std::size_t;
using std::uint64_t;

enum class Library : std::uint8_t { runtime, driver };

/// A function of CUDA that one of ours hides.
struct NextFunction {
  const char* name;
  Library library;
  std::atomic<void*> address{nullptr};

  /// Looks it up the first time: in what was loaded after us, else in the library that the process
  /// has loaded for some parts alone. Null where there is none.
  void* find();
};

template <typename Signature>
struct Next;

template <typename... Parameters>
struct Next<int(Parameters...)> : NextFunction {
  /// What the library says where there is none: no driver, not initialised.
  int operator()(Parameters... arguments) {
    using Function = int (*)(Parameters...);
    void* const function = find();
    if (function == nullptr) return library == Library::runtime ? 35 : 3;
    return reinterpret_cast<Function>(function)(arguments...);
  }
};

// NOLINTBEGIN(bugprone-macro-parentheses): parameters are a list in parentheses already
#define MEMREPLAY_CUDA(name, library, parameters) extern Next<int parameters> next_##name;
#include "cuda/functions.def"
#undef MEMREPLAY_CUDA

/// Ours in the place of what was found under this name; `found` itself where we have none.
void* in_place_of(const char* name, void* found);

/// dlsym of the C library.
void* look_up(void* handle, const char* name);

}  // namespace memreplay::capture

#define MEMREPLAY_CUDA(name, library, parameters) \
  extern "C" [[gnu::visibility("default")]] int name parameters;
#include "cuda/functions.def"
#undef MEMREPLAY_CUDA
// NOLINTEND(bugprone-macro-parentheses)
