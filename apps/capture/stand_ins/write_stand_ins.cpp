#include "stand_ins/write_stand_ins.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "core/error.hpp"
#include "core/siphash.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw InputError(path.string(), "",
                   "cannot be written: " + why + "; expected room for stand-ins");
}

/// Beside the folder that it becomes, on the same file system; removed unless it did.
class NewFolder {
 public:
  explicit NewFolder(const fs::path& becomes) : becomes_(becomes) {
    std::error_code error;
    fs::create_directories(becomes.parent_path(), error);
    std::string name = becomes.string() + ".XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) fail(becomes, std::strerror(errno));
    path_ = name;
  }
  ~NewFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const fs::path& path() const { return path_; }

  void complete() const {
    std::error_code error;
    fs::rename(path_, becomes_, error);
    if (error && !fs::is_directory(becomes_)) fail(becomes_, error.message());
  }

 private:
  fs::path becomes_;
  fs::path path_;
};

SharedObject stand_in(const NeededLibrary& library, const Implementation& implementation) {
  SharedObject object{
      .soname = library.soname, .needed = {implementation.soname}, .versions = library.versions};
  for (const VersionedSymbol& function : library.functions) {
    if (!implementation.functions.contains(function.name)) object.functions.push_back(function);
  }
  return object;
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail(path, std::strerror(errno));
}

}  // namespace

std::string cache_folder_name(const TorchNeeds& needs, const Implementation& implementation) {
  std::string key = std::string(MEMREPLAY_VERSION) + '\n' + implementation.soname + '\n';
  for (const std::string& function : implementation.functions) key += function + '\n';
  for (const ReadLibrary& library : needs.read) {
    key += library.path.string() + '\0' + std::to_string(library.size) + ' ' +
           std::to_string(library.modified_ns) + '\n';
  }
  return "cuda" + std::to_string(needs.cuda_major) + "-" + hex_of(siphash(key));
}

void write_stand_ins(const TorchNeeds& needs, const fs::path& folder,
                     const Implementation& implementation) {
  if (fs::is_directory(folder)) return;
  const NewFolder fresh(folder);
  for (const NeededLibrary& library : needs.libraries) {
    write_file(fresh.path() / library.soname, written(stand_in(library, implementation)));
  }
  fresh.complete();
}

}  // namespace memreplay
