#include "stand_ins/stand_ins.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "core/error.hpp"
#include "core/siphash.hpp"
#include "core/text.hpp"
#include "elf/elf_file.hpp"
#include "folders/cache.hpp"

namespace memreplay {
namespace {

struct Family {
  std::string_view prefix;  // begins the functions; what follows is no small letter
  std::string_view stem;
};

constexpr auto kFamilies = std::to_array<Family>({
    {"__cuda", "libcudart"},
    {"cu", "libcuda"},
    {"cuFile", "libcufile"},
    {"cublas", "libcublas"},
    {"cublasLt", "libcublasLt"},
    {"cuda", "libcudart"},
    {"cudnn", "libcudnn"},
    {"cudss", "libcudss"},
    {"cufft", "libcufft"},
    {"cupti", "libcupti"},
    {"curand", "libcurand"},
    {"cusolver", "libcusolver"},
    {"cusparse", "libcusparse"},
    {"cusparseLt", "libcusparseLt"},
    {"cutensor", "libcutensor"},
    {"nccl", "libnccl"},
    {"nvJitLink", "libnvJitLink"},
    {"nvjpeg", "libnvjpeg"},
    {"nvml", "libnvidia-ml"},
    {"nvrtc", "libnvrtc"},
    {"nvshmem", "libnvshmem_host"},
    {"nvshmemi", "libnvshmem_host"},
    {"nvshmemx", "libnvshmem_host"},
    {"nvtx", "libnvToolsExt"},
    {"pnccl", "libnccl"},
});

/// Their stems begin so and go on: libcudnn_ops, libnppig, libcusolverMg.
constexpr auto kFurtherStems = std::to_array<std::string_view>(
    {"libcudnn_", "libnpp", "libcusolverMg", "libcufftw", "libcufile_rdma", "libcutensorMg",
     "libnvfatbin", "libnvshmem_", "libnvvm"});

bool belongs_to(std::string_view function, std::string_view prefix) {
  if (!function.starts_with(prefix) || function.size() == prefix.size()) return false;
  const char next = function[prefix.size()];
  return next < 'a' || next > 'z';
}

bool is_hash(std::string_view text) {
  return text.size() == 8 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

namespace fs = std::filesystem;

/// The texts in `file` are parts of `bytes`.
struct OwnLibrary {
  std::string name;  ///< from the folder of the packages on
  bool is_torchs = false;
  ReadLibrary read;
  MappedFile bytes;
  ElfFile file;
};

bool is_library_name(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

OwnLibrary own_library(const fs::path& path, const fs::path& packages, bool is_torchs) {
  const auto modified = fs::last_write_time(path).time_since_epoch();
  MappedFile bytes(path);
  ElfFile file = elf_file(bytes.bytes(), path.string());
  return {.name = path.lexically_relative(packages),
          .is_torchs = is_torchs,
          .read = {path, bytes.bytes().size(),
                   std::chrono::duration_cast<std::chrono::nanoseconds>(modified).count()},
          .bytes = std::move(bytes),
          .file = std::move(file)};
}

bool is_read(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename();
  return is_library_name(name) && !is_nvidia_library(stem_of(name)) && entry.is_regular_file();
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
    if (is_read(entry)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

/// What the packages beside torch hold, likewise; none where torch lies elsewhere.
std::vector<fs::path> libraries_beside(const fs::path& torch_folder) {
  const fs::path packages = torch_folder.parent_path();
  std::vector<fs::path> paths;
  if (packages.filename() != "site-packages" && packages.filename() != "dist-packages")
    return paths;
  std::error_code error;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator entry(packages, kOptions, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (entry.depth() == 0 && (path == torch_folder || path.filename() == "nvidia")) {
      entry.disable_recursion_pending();
    } else if (is_read(*entry)) {
      paths.push_back(path);
    }
  }
  std::ranges::sort(paths);
  return paths;
}

bool needs_cuda(const ElfFile& file) {
  return std::ranges::any_of(file.needed, [](std::string_view soname) {
    const std::string_view stem = stem_of(soname);
    return is_nvidia_library(stem) || stem == "libtorch_cuda" || stem == "libc10_cuda";
  });
}

std::vector<OwnLibrary> own_libraries(const fs::path& torch_folder) {
  const fs::path folder = torch_folder / "lib";
  std::error_code failed;
  if (!fs::exists(folder / "libtorch_cuda.so", failed)) {
    throw InputError(
        torch_folder.string(), "",
        "is a torch without CUDA (no lib/libtorch_cuda.so); expected one built for it: "
        "pip install torch --index-url https://download.pytorch.org/whl/cu126");
  }
  const fs::path packages = torch_folder.parent_path();
  std::vector<OwnLibrary> libraries;
  for (const fs::path& path : libraries_in(folder)) {
    libraries.push_back(own_library(path, packages, true));
  }
  for (const fs::path& path : libraries_beside(torch_folder)) {
    try {
      OwnLibrary library = own_library(path, packages, false);
      if (needs_cuda(library.file)) libraries.push_back(std::move(library));
    } catch (const InputError&) {  // a package may bring along what is for another system
    }
  }
  return libraries;
}

/// Gathers needs over all libraries; sets keep them in order.
class Needs {
 public:
  void add(std::span<const OwnLibrary> libraries);
  TorchNeeds result() &&;

 private:
  struct Library {
    std::set<std::string> versions;
    std::set<VersionedSymbol> functions;
  };
  using Entry = std::pair<const std::string, Library>;

  void add_functions(const OwnLibrary& library);
  void add_versioned(const UndefinedSymbol& symbol);
  void add_unversioned(std::string_view function);

  std::map<std::string, Library> libraries_{{"libcuda.so.1", {}}, {"libnvidia-ml.so.1", {}}};
  std::set<std::string_view> own_;  ///< what torch and the packages define themselves
  std::vector<CallingLibrary> callers_;
};

void Needs::add(std::span<const OwnLibrary> libraries) {
  for (const OwnLibrary& library : libraries) {
    own_.insert(library.file.defined.begin(), library.file.defined.end());
    for (const std::string_view soname : library.file.needed) {
      if (is_nvidia_library(stem_of(soname))) libraries_.try_emplace(std::string(soname));
    }
  }
  for (const OwnLibrary& library : libraries) add_functions(library);
}

void Needs::add_functions(const OwnLibrary& library) {
  std::set<std::string> called;
  for (const UndefinedSymbol& symbol : library.file.undefined) {
    const bool is_versioned = !symbol.version.empty();
    if (is_versioned) {
      add_versioned(symbol);
    } else if (!symbol.weak && nvidia_library_of(symbol.name) && !own_.contains(symbol.name)) {
      add_unversioned(symbol.name);
    }
    if (symbol.weak || !nvidia_library_of(symbol.name)) continue;
    if (is_versioned || !own_.contains(symbol.name)) called.emplace(symbol.name);
  }
  callers_.push_back({library.name, library.is_torchs, {called.begin(), called.end()}});
}

/// A version must be there for a weak function too, which itself may be absent.
void Needs::add_versioned(const UndefinedSymbol& symbol) {
  if (!is_nvidia_library(stem_of(symbol.library))) return;
  Library& library = libraries_[std::string(symbol.library)];
  library.versions.emplace(symbol.version);
  if (symbol.weak) return;
  library.functions.insert({std::string(symbol.name), std::string(symbol.version)});
}

/// Nowhere where no library that is needed has such functions.
void Needs::add_unversioned(std::string_view function) {
  const auto stem = nvidia_library_of(function);
  const auto found = std::ranges::find_if(
      libraries_, [&](const Entry& library) { return stem_of(library.first) == stem; });
  if (found != libraries_.end()) found->second.functions.insert({std::string(function), ""});
}

TorchNeeds Needs::result() && {
  TorchNeeds needs{.callers = std::move(callers_)};
  for (const auto& [soname, library] : libraries_) {
    needs.libraries.push_back({soname,
                               {library.versions.begin(), library.versions.end()},
                               {library.functions.begin(), library.functions.end()}});
  }
  return needs;
}

/// 13 of "libcudart.so.13", 11 of "libcudart.so.11.0", as torch's own libraries need it.
unsigned cuda_major(std::span<const OwnLibrary> libraries, const fs::path& torch_folder) {
  for (const OwnLibrary& library : libraries) {
    if (!library.is_torchs) continue;
    for (const std::string_view soname : library.file.needed) {
      if (stem_of(soname) != "libcudart") continue;
      constexpr std::string_view kBefore = ".so.";
      std::string_view version = soname;
      version.remove_prefix(std::min(version.find(kBefore), version.size() - kBefore.size()));
      version.remove_prefix(kBefore.size());
      if (const auto major = parse_whole(std::string(version.substr(0, version.find('.'))))) {
        return static_cast<unsigned>(*major);
      }
    }
  }
  throw InputError(torch_folder.string(), "",
                   "needs no libcudart.so.N; expected a torch whose CUDA runtime is a library");
}

SharedObject stand_in(const NeededLibrary& library, const Implementation& implementation) {
  SharedObject object{
      .soname = library.soname, .needed = {implementation.soname}, .versions = library.versions};
  for (const VersionedSymbol& function : library.functions) {
    if (!implementation.functions.contains(function.name)) object.functions.push_back(function);
  }
  return object;
}

}  // namespace

std::string_view stem_of(std::string_view soname) {
  std::string_view stem = soname.substr(0, soname.find(".so"));
  const std::size_t mark = stem.find_last_of("-.");
  if (mark != std::string_view::npos && is_hash(stem.substr(mark + 1))) stem = stem.substr(0, mark);
  return stem;
}

bool is_nvidia_library(std::string_view stem) {
  return std::ranges::find(kFamilies, stem, &Family::stem) != kFamilies.end() ||
         std::ranges::any_of(kFurtherStems,
                             [&](std::string_view begin) { return stem.starts_with(begin); });
}

std::optional<std::string_view> nvidia_library_of(std::string_view function) {
  const Family* longest = nullptr;
  for (const Family& family : kFamilies) {
    if (!belongs_to(function, family.prefix)) continue;
    if (longest == nullptr || family.prefix.size() > longest->prefix.size()) longest = &family;
  }
  if (longest == nullptr) return {};
  return longest->stem;
}

TorchNeeds torch_needs(const fs::path& torch_folder) {
  const std::vector<OwnLibrary> libraries = own_libraries(torch_folder);
  Needs gathered;
  gathered.add(libraries);
  TorchNeeds needs = std::move(gathered).result();
  needs.cuda_major = cuda_major(libraries, torch_folder);
  for (const OwnLibrary& library : libraries) needs.read.push_back(library.read);
  return needs;
}

std::string cache_folder_name(const TorchNeeds& needs, const Implementation& implementation) {
  std::string key = std::string(MEMREPLAY_VERSION) + '\n' + implementation.soname + '\n';
  for (const std::string& function : implementation.functions) key += function + '\n';
  for (const ReadLibrary& library : needs.read) {
    key += library.path.string() + '\0' + std::to_string(library.size) + ' ' +
           std::to_string(library.modified_ns) + '\n';
  }
  return "cuda" + std::to_string(needs.cuda_major) + "-" + hex_of(siphash(key));
}

fs::path write_stand_ins(const TorchNeeds& needs, const Cache& cache,
                         const Implementation& implementation) {
  std::vector<CachedFile> files;
  for (const NeededLibrary& library : needs.libraries) {
    files.push_back({library.soname, written(stand_in(library, implementation))});
  }
  return cache.folder_with(cache_folder_name(needs, implementation), files);
}

}  // namespace memreplay
