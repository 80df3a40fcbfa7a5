#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Reads a pickle with CPython, by the module memreplay_python_reader that is loaded on the first
/// call. Throws InputError, UsageError where there is no such module.
Recording read_with_python(const Input& input);

}  // namespace memreplay
