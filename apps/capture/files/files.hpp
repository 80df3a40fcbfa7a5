#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace memreplay {

class Cache;

/// A file that the program carries in itself for those that it records.
struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

std::span<const EmbeddedFile> embedded_files();
/// Throws std::logic_error for one that is not there.
const EmbeddedFile& embedded_file(std::string_view name);

/// The folder in the cache with all of the embedded files, made where it is not there. Throws
/// InputError.
std::filesystem::path embedded_folder(const Cache& cache);

}  // namespace memreplay
