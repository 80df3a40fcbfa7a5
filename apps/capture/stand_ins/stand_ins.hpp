#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/shared_object.hpp"

namespace memreplay {

/// "libcudart" of "libcudart.so.13", and of "libcudart-d0da41ae.so.11.0" and
/// "libcudart.e8e8b82a.so.12", as packages rename what they bring along.
std::string_view stem_of(std::string_view soname);

bool is_nvidia_library(std::string_view stem);

/// The stem of the NVIDIA library whose functions are named so.
std::optional<std::string_view> nvidia_library_of(std::string_view function);

struct NeededLibrary {
  std::string soname;
  std::vector<std::string> versions;
  std::vector<VersionedSymbol> functions;
};

/// One that was read, as it was then.
struct ReadLibrary {
  std::filesystem::path path;
  std::uint64_t size = 0;  // bytes
  std::int64_t modified_ns = 0;
};

/// What one library calls of NVIDIA's.
struct CallingLibrary {
  std::string name;        ///< "vllm/_C.abi3.so" of a package, "torch/lib/libc10_cuda.so"
  bool is_torchs = false;  ///< torch's own
  std::vector<std::string> functions;  ///< without those that torch or a package has itself
};

/// What an installed torch needs of NVIDIA, and the packages beside it; in the order of the names.
struct TorchNeeds {
  unsigned cuda_major = 0;
  std::vector<NeededLibrary> libraries;
  std::vector<CallingLibrary> callers;
  std::vector<ReadLibrary> read;
};

/// Reads every library in `torch_folder`/lib, and where torch was installed as a package (into
/// site-packages or dist-packages) those of the packages beside it that need CUDA. NVIDIA's own,
/// where they lie there, are needs as if they did not. The driver and NVML are always needed, as
/// torch opens them by name. InputError for a torch without CUDA, and where one of its libraries
/// cannot be read; one of another package is left out then.
TorchNeeds torch_needs(const std::filesystem::path& torch_folder);

class Cache;

/// The library that does what the stand-ins only count. It is to be loaded before them, so that its
/// functions are found first; they need it, so that they are found by handle as well.
struct Implementation {
  std::string soname = "libmemreplay_gpu.so";
  std::set<std::string> functions;
};

/// Equal for equal libraries, implementation and version of memreplay.
std::string cache_folder_name(const TorchNeeds& needs, const Implementation& implementation);

/// A folder in the cache with a file for each needed library, named by its soname, without what is
/// implemented. Throws InputError where it cannot be written.
std::filesystem::path write_stand_ins(const TorchNeeds& needs, const Cache& cache,
                                      const Implementation& implementation);

}  // namespace memreplay
