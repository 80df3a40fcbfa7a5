#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "elf/shared_object.hpp"

namespace memreplay {

/// A shared object in this process, until the end of the test.
class Loaded {
 public:
  explicit Loaded(const std::filesystem::path& path) {
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  }
  ~Loaded() { ::dlclose(handle_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  void* find(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }
  void* find(const std::string& name, const std::string& version) const {
    return ::dlvsym(handle_, name.c_str(), version.c_str());
  }

  int call(const std::string& name) const { return reinterpret_cast<int (*)()>(find(name))(); }

  /// The calls of each function of a stand-in, of those that were called.
  std::map<std::string, std::uint64_t> calls() const {
    const auto* const names = static_cast<const char*>(find(std::string(kNamesSymbol)));
    const auto* const counts = static_cast<const std::uint64_t*>(find(std::string(kCountsSymbol)));
    const auto size = *static_cast<const std::uint64_t*>(find(std::string(kSizeSymbol)));
    std::istringstream lines(names);
    std::map<std::string, std::uint64_t> calls;
    for (std::uint64_t i = 0; i < size; ++i) {
      std::string name;
      std::getline(lines, name);
      if (counts[i] > 0) calls[name] += counts[i];
    }
    return calls;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace memreplay
