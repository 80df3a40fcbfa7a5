#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace memreplay {

/// The folder with the stand-ins that this torch needs, made where it is not there. Throws
/// InputError where this torch cannot run on a virtual GPU.
std::filesystem::path prepared_stand_ins(const std::filesystem::path& torch_folder);

/// Where the program is an interpreter of Python, prepares for its torch, so that what is missing
/// is said before it starts. Of others nothing is known yet. Throws UsageError, InputError.
void prepare_for(const std::vector<std::string>& program);

}  // namespace memreplay
