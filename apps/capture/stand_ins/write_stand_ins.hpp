#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "stand_ins/torch_needs.hpp"

namespace memreplay {

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
