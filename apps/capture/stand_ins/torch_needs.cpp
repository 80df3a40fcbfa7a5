#include "stand_ins/torch_needs.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/text.hpp"
#include "elf/elf_file.hpp"
#include "elf/mapped_file.hpp"
#include "stand_ins/library_names.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// The texts in `file` are parts of `bytes`.
struct OwnLibrary {
  std::string name;
  ReadLibrary read;
  MappedFile bytes;
  ElfFile file;
};

bool is_library_name(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

OwnLibrary own_library(const fs::path& path) {
  const auto modified = fs::last_write_time(path).time_since_epoch();
  MappedFile bytes(path);
  ElfFile file = elf_file(bytes.bytes(), path.string());
  return {.name = path.filename(),
          .read = {path, bytes.bytes().size(),
                   std::chrono::duration_cast<std::chrono::nanoseconds>(modified).count()},
          .bytes = std::move(bytes),
          .file = std::move(file)};
}

/// In the order of their names; without NVIDIA's.
std::vector<fs::path> libraries_in(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw InputError(folder.string(), "",
                     "cannot be read: " + error.message() + "; expected a folder of libraries");
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || !is_library_name(name)) continue;
    if (!is_nvidia_library(stem_of(name))) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<OwnLibrary> own_libraries(const fs::path& torch_folder,
                                      std::span<const fs::path> more_folders) {
  const fs::path folder = torch_folder / "lib";
  if (!fs::exists(folder / "libtorch_cuda.so")) {
    throw InputError(
        torch_folder.string(), "",
        "is a torch without CUDA (no lib/libtorch_cuda.so); expected one built for it: "
        "pip install torch --index-url https://download.pytorch.org/whl/cu126");
  }
  std::vector<fs::path> paths = libraries_in(folder);
  for (const fs::path& more : more_folders)
    std::ranges::copy(libraries_in(more), std::back_inserter(paths));
  std::vector<OwnLibrary> libraries;
  for (const fs::path& path : paths) libraries.push_back(own_library(path));
  return libraries;
}

/// Gathers needs over all libraries; sets keep them in order.
class Needs {
 public:
  void add_libraries(std::span<const OwnLibrary> libraries);
  void add_functions(std::span<const OwnLibrary> libraries);
  TorchNeeds result() const;

 private:
  struct Library {
    std::set<std::string> versions;
    std::set<VersionedSymbol> functions;
  };
  using Entry = std::pair<const std::string, Library>;

  void add_versioned(const UndefinedSymbol& symbol);
  void add_unversioned(std::string_view function);

  std::map<std::string, Library> libraries_{{"libcuda.so.1", {}}, {"libnvidia-ml.so.1", {}}};
  std::set<std::string> unknown_;
  std::set<std::string> homeless_;
};

void Needs::add_libraries(std::span<const OwnLibrary> libraries) {
  std::set<std::string_view> own;
  for (const OwnLibrary& library : libraries) own.insert(library.name);
  for (const OwnLibrary& library : libraries) {
    for (const std::string_view soname : library.file.needed) {
      const std::string_view stem = stem_of(soname);
      if (is_nvidia_library(stem)) {
        libraries_.try_emplace(std::string(soname));
      } else if (!own.contains(soname) && !is_system_library(stem)) {
        unknown_.emplace(soname);
      }
    }
  }
}

void Needs::add_functions(std::span<const OwnLibrary> libraries) {
  std::set<std::string_view> unversioned;
  for (const OwnLibrary& library : libraries) {
    for (const UndefinedSymbol& symbol : library.file.undefined) {
      if (!symbol.version.empty()) {
        add_versioned(symbol);
      } else if (!symbol.weak && nvidia_library_of(symbol.name)) {
        unversioned.insert(symbol.name);
      }
    }
  }
  for (const OwnLibrary& library : libraries) {
    for (const std::string_view name : library.file.defined) unversioned.erase(name);
  }
  for (const std::string_view function : unversioned) add_unversioned(function);
}

/// A version must be there for a weak function too, which itself may be absent.
void Needs::add_versioned(const UndefinedSymbol& symbol) {
  if (!is_nvidia_library(stem_of(symbol.library))) return;
  Library& library = libraries_[std::string(symbol.library)];
  library.versions.emplace(symbol.version);
  if (symbol.weak) return;
  library.functions.insert({std::string(symbol.name), std::string(symbol.version)});
}

void Needs::add_unversioned(std::string_view function) {
  const auto stem = nvidia_library_of(function);
  const auto found = std::ranges::find_if(
      libraries_, [&](const Entry& library) { return stem_of(library.first) == stem; });
  if (found == libraries_.end()) {
    homeless_.emplace(function);
  } else {
    found->second.functions.insert({std::string(function), ""});
  }
}

TorchNeeds Needs::result() const {
  TorchNeeds needs;
  needs.unknown.assign(unknown_.begin(), unknown_.end());
  needs.homeless.assign(homeless_.begin(), homeless_.end());
  for (const auto& [soname, library] : libraries_) {
    needs.libraries.push_back({soname,
                               {library.versions.begin(), library.versions.end()},
                               {library.functions.begin(), library.functions.end()}});
  }
  return needs;
}

/// 13 of "libcudart.so.13", 11 of "libcudart.so.11.0".
unsigned cuda_major(std::span<const NeededLibrary> libraries, const fs::path& torch_folder) {
  for (const NeededLibrary& library : libraries) {
    if (stem_of(library.soname) != "libcudart") continue;
    constexpr std::string_view kBefore = ".so.";
    std::string_view version = library.soname;
    version.remove_prefix(std::min(version.find(kBefore), version.size() - kBefore.size()));
    version.remove_prefix(kBefore.size());
    if (const auto major = parse_whole(version.substr(0, version.find('.')))) {
      return static_cast<unsigned>(*major);
    }
  }
  throw InputError(torch_folder.string(), "",
                   "needs no libcudart.so.N; expected a torch whose CUDA runtime is a library");
}

}  // namespace

TorchNeeds torch_needs(const fs::path& torch_folder, std::span<const fs::path> more_folders) {
  const std::vector<OwnLibrary> libraries = own_libraries(torch_folder, more_folders);
  Needs gathered;
  gathered.add_libraries(libraries);
  gathered.add_functions(libraries);
  TorchNeeds needs = gathered.result();
  needs.cuda_major = cuda_major(needs.libraries, torch_folder);
  for (const OwnLibrary& library : libraries) needs.read.push_back(library.read);
  return needs;
}

}  // namespace memreplay
