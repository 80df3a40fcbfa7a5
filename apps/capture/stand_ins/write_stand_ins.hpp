#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "stand_ins/torch_needs.hpp"

namespace memreplay {

/// The library that does what the stand-ins only count. It is to be loaded before them, so that its
/// functions are found first; they need it, so that they are found by handle as well.
struct Implementation {
  std::string soname = "libmemreplay_gpu.so";
  std::set<std::string> functions;
};

/// The same for the same libraries, implementation and version of memreplay.
std::string cache_folder_name(const TorchNeeds& needs, const Implementation& implementation);

/// Writes a file for each needed library, named by its soname, without what is implemented. The
/// folder appears when it is complete; one that is there stays, also where another process was
/// quicker. InputError where it cannot be written.
void write_stand_ins(const TorchNeeds& needs, const std::filesystem::path& folder,
                     const Implementation& implementation);

}  // namespace memreplay
