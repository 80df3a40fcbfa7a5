#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "abi.hpp"
#include "contents.hpp"
#include "machine.hpp"
#include "streams.hpp"
#include "told.hpp"

namespace memreplay::gpu {

/// How the stand-ins of the maths libraries answer.

/// For an object that nobody asks anything.
inline Handle some_handle() {
  static char nothing;
  return &nothing;
}

inline Status give_handle(Handle* to) {
  *to = some_handle();
  return kSuccess;
}

/// The handle of a library, another one each time: PyTorch keeps a workspace for each.
inline Status give_library(Handle* to) {
  static char libraries[1 << 16];
  static std::atomic<std::size_t> given = 0;
  *to = &libraries[given++ % sizeof libraries];
  return kSuccess;
}

template <class Number>
Status give(Number* to, std::type_identity_t<Number> value) {
  *to = value;
  return kSuccess;
}

/// A workspace of `count` elements, of which the person is told: the library's own size is nowhere
/// written down.
template <class Number>
Status give_modelled(const char* function, Number* to, std::size_t count,
                     std::size_t element_size = 1) {
  workspace_was_modelled(function, count * element_size);
  return give(to, static_cast<Number>(count));
}

/// Work that changes memory of a device.
inline Status computed() {
  work_was_launched();
  a_kernel_ran();
  return machine().load(LoadedLibrary::kernels);
}

}  // namespace memreplay::gpu
