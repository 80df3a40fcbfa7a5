#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/virtual_card.hpp"

namespace memreplay {

class Cache;

/// What a process loads, in this order, before it imports its torch.
struct PreparedTorch {
  std::filesystem::path implementation;
  std::filesystem::path stand_ins;  ///< a folder: all that is in it
  /// By library, the functions that it calls and that do nothing here.
  std::map<std::string, std::vector<std::string>> neutral;
  std::string settings;  ///< for MEMREPLAY_VIRTUAL_GPU; empty: no card was named
  /// A folder that the process removes when it has loaded them; unset: they stay in the cache.
  std::optional<std::filesystem::path> temporary;
};

/// For the torch in this folder. What is not there yet is made in the cache. Throws InputError
/// where this torch cannot run on a virtual GPU.
PreparedTorch prepared(Cache& cache, const std::filesystem::path& torch_folder,
                       const std::optional<VirtualCard>& card = {},
                       const VirtualBehaviour& behaviour = {});

std::string to_json(const PreparedTorch& preparation);

/// The shell's line by which an interpreter of Python gets a torch that is enough for a virtual
/// GPU: what it imports, and nothing of NVIDIA's.
std::string torch_alone_command(const std::string& program);

/// Where the program is an interpreter of Python, prepares for its torch, so that what is missing
/// is said before it starts; returns what the packages beside it need and no stand-in has. Other
/// programs are not prepared for. Throws UsageError, InputError.
std::vector<std::string> prepare_for(const std::vector<std::string>& program, const Cache& cache);

}  // namespace memreplay
