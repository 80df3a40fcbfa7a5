#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/parts/table.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

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

/// The recordings without a file, by the names that the arguments have for them.
using Sources = std::map<std::string, std::shared_ptr<const RecordingSource>>;

struct Asked {
  std::string command;
  std::vector<std::string> arguments;  ///< as on a command line
  Sources sources;
};

/// What a command came to.
struct Ran {
  int status = 0;  ///< the exit code
  /// The answer; unset where the command has none.
  std::optional<std::string> json;
  std::string text;
  std::optional<std::string> markdown;
  std::optional<Table> table;
  std::string output;  ///< what went to standard output beside the answer
  std::vector<std::string> notes;
};

/// Runs a command of the command line, which prints nothing. Ends early, with exit code 130, when
/// `stop` becomes true. Throws what commands throw.
Ran run_command(const Asked& asked, const std::atomic<bool>& stop);

}  // namespace memreplay
