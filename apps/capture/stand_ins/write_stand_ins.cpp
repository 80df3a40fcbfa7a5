#include "stand_ins/write_stand_ins.hpp"

#include "core/siphash.hpp"
#include "folders/cache.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

SharedObject stand_in(const NeededLibrary& library, const Implementation& implementation) {
  SharedObject object{
      .soname = library.soname, .needed = {implementation.soname}, .versions = library.versions};
  for (const VersionedSymbol& function : library.functions) {
    if (!implementation.functions.contains(function.name)) object.functions.push_back(function);
  }
  return object;
}

}  // namespace

std::string cache_folder_name(const TorchNeeds& needs, const Implementation& implementation) {
  std::string key = std::string(MEMREPLAY_VERSION) + '\n' + implementation.soname + '\n';
  for (const std::string& function : implementation.functions) key += function + '\n';
  for (const ReadLibrary& library : needs.read) {
    key += library.path.string() + '\0' + std::to_string(library.size) + ' ' +
           std::to_string(library.modified_ns) + '\n';
  }
  return "cuda" + std::to_string(needs.cuda_major) + "-" + hex_of(siphash(key));
}

fs::path write_stand_ins(const TorchNeeds& needs, const Cache& cache,
                         const Implementation& implementation) {
  std::vector<CachedFile> files;
  for (const NeededLibrary& library : needs.libraries) {
    files.push_back({library.soname, written(stand_in(library, implementation))});
  }
  return cache.folder_with(cache_folder_name(needs, implementation), files);
}

}  // namespace memreplay
