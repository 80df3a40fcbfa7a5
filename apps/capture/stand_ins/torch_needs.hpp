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

/// What an installed torch needs of NVIDIA, all in the order of the names.
struct TorchNeeds {
  unsigned cuda_major = 0;
  std::vector<NeededLibrary> libraries;
  std::vector<std::string> unknown;   // needed libraries: not NVIDIA's, nor the system's, nor there
  std::vector<std::string> homeless;  // functions of NVIDIA libraries that nothing names
  std::vector<ReadLibrary> read;
};

/// Reads every library in `torch_folder`/lib and directly in `more_folders` (other packages that
/// need CUDA, and what those bring along). NVIDIA's own, where they lie there, are needs as if they
/// did not. The driver and NVML are always needed, as torch opens them by name. InputError for a
/// torch without CUDA, and for a library that cannot be read.
TorchNeeds torch_needs(const std::filesystem::path& torch_folder,
                       std::span<const std::filesystem::path> more_folders = {});

}  // namespace memreplay
