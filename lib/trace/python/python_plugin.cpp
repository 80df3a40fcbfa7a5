#include "trace/python/python_plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

std::vector<std::filesystem::path> places() {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none) {
    found.push_back(program.parent_path() / kPythonReaderFile);
    found.push_back(program.parent_path().parent_path() / "lib/memreplay" / kPythonReaderFile);
  }
#ifdef MEMREPLAY_PYTHON_READER_PATH
  found.emplace_back(MEMREPLAY_PYTHON_READER_PATH);
#endif
  return found;
}

PythonRead* load() {
  std::string why = "it is not installed";
  for (const auto& place : places()) {
    std::error_code none;
    if (!std::filesystem::exists(place, none)) continue;
    // Global: extension modules of Python look for its symbols there.
    void* module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* function = module == nullptr ? nullptr : ::dlsym(module, kPythonReadName);
    if (function != nullptr) return reinterpret_cast<PythonRead*>(function);
    const char* error = ::dlerror();
    why = error == nullptr ? "it cannot be loaded" : error;
  }
  throw UsageError("the reader 'python' needs the module " + std::string(kPythonReaderFile) +
                   " beside the program or in ../lib/memreplay (" + why +
                   "); build with MEMREPLAY_PYTHON_READER=ON, or leave out --reader python");
}

}  // namespace

Recording read_with_python(const Input& input) {
  TorchSnapshot snapshot;
  load()(input, snapshot);
  return torch_recording(std::move(snapshot), input.name, std::string(kTorchPickleFormat),
                         torch_pickle_detail(input));
}

}  // namespace memreplay
