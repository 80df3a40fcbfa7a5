#include "files/files.hpp"

#include <stdexcept>

#include "core/siphash.hpp"
#include "folders/cache.hpp"

#define MEMREPLAY_FILE(name, symbol) \
  extern "C" const char symbol[];    \
  extern "C" const char symbol##_end[];
#include "embedded.def"
#undef MEMREPLAY_FILE

namespace memreplay {
namespace {

/// A hash of the embedded files, so that another build has a folder of its own.
std::string folder_name() {
  std::string all;
  for (const EmbeddedFile& file : embedded_files()) all += file.content;
  return "record-" + hex_of(siphash(all));
}

}  // namespace

std::span<const EmbeddedFile> embedded_files() {
#define MEMREPLAY_FILE(name, symbol) \
  EmbeddedFile{name, {symbol, static_cast<std::size_t>(symbol##_end - symbol)}},
  static const EmbeddedFile kFiles[] = {
#include "embedded.def"
  };
#undef MEMREPLAY_FILE
  return kFiles;
}

const EmbeddedFile& embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return file;
  }
  throw std::logic_error("no embedded file " + std::string(name));
}

std::filesystem::path embedded_folder(const Cache& cache) {
  std::vector<CachedFile> files;
  for (const auto& [name, content] : embedded_files()) {
    files.push_back({std::string(name), std::string(content)});
  }
  return cache.folder_with(folder_name(), files);
}

}  // namespace memreplay
