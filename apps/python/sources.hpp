#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// A recording that Python has in memory. May be read any number of times, on any thread, without
/// the lock of the interpreter.
class RecordingSource {
 public:
  virtual ~RecordingSource() = default;
  /// Throws InputError.
  virtual Recording read(const std::string& name) const = 0;
};

/// A file's content. Holds on to the object.
std::unique_ptr<RecordingSource> source_of_bytes(const pybind11::bytes& content);

/// What torch.cuda.memory._snapshot() returns. Converted now: later changes of it do not matter.
/// Throws InputError, which calls it `name`.
std::unique_ptr<RecordingSource> source_of_snapshot(const pybind11::object& snapshot,
                                                    const std::string& name);

}  // namespace memreplay
