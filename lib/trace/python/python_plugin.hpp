#pragma once

#include "trace/reader.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

/// Reads a pickle with CPython, by the module memreplay_python_reader that is loaded on the first
/// call. Throws InputError, UsageError where there is no such module.
Recording read_with_python(const Input& input);

/// The function that the module memreplay_python_reader offers under kPythonReadName. Throws
/// InputError.
using PythonRead = void(const Input& input, TorchSnapshot& snapshot);

inline constexpr const char* kPythonReadName = "memreplay_read_with_python";
inline constexpr const char* kPythonReaderFile = "memreplay_python_reader.so";

}  // namespace memreplay
