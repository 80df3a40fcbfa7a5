#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "elf/shared_object.hpp"

namespace memreplay {

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

}  // namespace memreplay
