#include <pybind11/embed.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"
#include "trace/python/python_plugin.hpp"
#include "trace/python/python_view.hpp"
#include "trace/torch/snapshot_conversion.hpp"

namespace memreplay {
namespace {

namespace py = pybind11;

constexpr const char* kUnpickler = R"(
import io, pickle

class ValuesOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"global '{module}.{name}': this file wants to run code; refused")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError(f"persistent id {pid!r}: this file wants to run code; refused")

def load(data):
    return ValuesOnly(io.BytesIO(data)).load()
)";

/// Starts Python on the first call, without the user's site and environment, and leaves it running.
void start_python(const Input& input) {
  if (Py_IsInitialized() != 0) return;
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  config.install_signal_handlers = 0;
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) {
    throw InputError(
        input.name, "",
        "Python does not start: " + std::string(status.err_msg == nullptr ? "" : status.err_msg));
  }
  PyEval_SaveThread();
}

/// What Python says, on one line, without where in its own code.
std::string message_of(const py::error_already_set& error) {
  std::string text = error.what();
  text.resize(std::min(text.find("\n\nAt:\n"), text.size()));
  std::ranges::replace(text, '\n', '?');
  return text;
}

TorchSnapshot convert(const Input& input) {
  py::dict scope;
  scope["__builtins__"] = py::module_::import("builtins");
  scope["__name__"] = "memreplay_unpickler";
  py::exec(kUnpickler, scope);
  const py::memoryview data =
      py::memoryview::from_memory(input.bytes.data(), static_cast<py::ssize_t>(input.bytes.size()));
  const py::object root = scope["load"](data);
  SnapshotTexts texts;
  return convert_snapshot(PythonView(root), input.name, texts, input.bytes.size(), input.host);
}

}  // namespace
}  // namespace memreplay

extern "C" __attribute__((visibility("default"))) void memreplay_read_with_python(
    const memreplay::Input& input, memreplay::TorchSnapshot& snapshot) {
  memreplay::start_python(input);
  const pybind11::gil_scoped_acquire lock;
  try {
    snapshot = memreplay::convert(input);
  } catch (const pybind11::error_already_set& error) {
    throw memreplay::InputError(input.name, "",
                                "Python cannot read it: " + memreplay::message_of(error));
  }
}
