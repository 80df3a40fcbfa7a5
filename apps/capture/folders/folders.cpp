#include "folders/folders.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw InputError(path.string(), "", "cannot be written: " + why);
}

}  // namespace

fs::path cache_folder() {
  const auto set = [](const char* variable) -> const char* {
    const char* const value = std::getenv(variable);
    return value && *value == '/' ? value : nullptr;
  };
  if (const char* const cache = set("XDG_CACHE_HOME")) return fs::path(cache) / "memreplay";
  if (const char* const home = set("HOME"); home && ::access(home, W_OK) == 0) {
    return fs::path(home) / ".cache" / "memreplay";
  }
  return fs::temp_directory_path() / ("memreplay-" + std::to_string(::getuid()));
}

void make_folder(const fs::path& folder, const std::function<void(const fs::path&)>& fill) {
  if (fs::is_directory(folder)) return;
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  std::string fresh = folder.string() + ".XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr) fail(folder, std::strerror(errno));
  try {
    fill(fresh);
  } catch (...) {
    fs::remove_all(fresh, error);
    throw;
  }
  fs::rename(fresh, folder, error);
  if (!error) return;
  const std::string why = error.message();
  fs::remove_all(fresh, error);
  if (!fs::is_directory(folder)) fail(folder, why);
}

void write_file(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail(path, std::strerror(errno));
}

}  // namespace memreplay
