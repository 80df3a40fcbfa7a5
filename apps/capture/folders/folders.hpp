#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace memreplay {

/// Where what can be made again is kept: $XDG_CACHE_HOME/memreplay, ~/.cache/memreplay, or a folder
/// of this user among the temporary files.
std::filesystem::path cache_folder();

/// Has `fill` make the content of a folder, which appears when it is complete. One that is there
/// stays, also where another process was quicker. Throws InputError where it cannot be written.
void make_folder(const std::filesystem::path& folder,
                 const std::function<void(const std::filesystem::path&)>& fill);

/// Throws InputError.
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace memreplay
