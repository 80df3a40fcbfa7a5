#include "spool/loaded_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace memreplay::capture {
namespace {

struct Wanted {
  const char* begins;
  char path[4096] = {};
};

int note_path(dl_phdr_info* about, std::size_t, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  const char* const slash = std::strrchr(about->dlpi_name, '/');
  const char* const name = slash == nullptr ? about->dlpi_name : slash + 1;
  const bool found = std::strncmp(name, wanted.begins, std::strlen(wanted.begins)) == 0 &&
                     std::strlen(about->dlpi_name) < sizeof wanted.path;
  if (found) std::strcpy(wanted.path, about->dlpi_name);
  return found;
}

}  // namespace

void* loaded_library(const char* begins) {
  Wanted wanted{begins};
  if (dl_iterate_phdr(note_path, &wanted) == 0) return nullptr;
  return dlopen(wanted.path, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace memreplay::capture
