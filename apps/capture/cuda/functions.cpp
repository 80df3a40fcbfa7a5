#include "cuda/functions.hpp"

#include <dlfcn.h>

#include <cstring>

#include "spool/loaded_library.hpp"

namespace memreplay::capture {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define MEMREPLAY_CUDA(name, library, parameters) \
  constinit Next<int parameters> next_##name{{#name, Library::library}};
#include "cuda/functions.def"
#undef MEMREPLAY_CUDA
// NOLINTEND(bugprone-macro-parentheses)

namespace {

struct Seen {
  void* ours;
  NextFunction* next;
};

const Seen* seen_as(const char* name) {
  static const Seen all[] = {
#define MEMREPLAY_CUDA(name, library, parameters) {reinterpret_cast<void*>(&::name), &next_##name},
#include "cuda/functions.def"
#undef MEMREPLAY_CUDA
  };
  for (const Seen& one : all) {
    if (std::strcmp(one.next->name, name) == 0) return &one;
  }
  return nullptr;
}

/// Packages name theirs libcudart.so.12, or libcudart-0123abcd.so.11.0.
void* find_in_loaded(Library library, const char* name) {
  void* const handle = loaded_library(library == Library::runtime ? "libcudart" : "libcuda.so");
  return handle == nullptr ? nullptr : look_up(handle, name);
}

}  // namespace

void* NextFunction::find() {
  if (void* const known = address.load(std::memory_order_acquire)) return known;
  void* found = look_up(RTLD_NEXT, name);
  if (found == nullptr) found = find_in_loaded(library, name);
  if (found != nullptr) address.store(found, std::memory_order_release);
  return found;
}

void* in_place_of(const char* name, void* found) {
  const Seen* const seen = found == nullptr ? nullptr : seen_as(name);
  if (seen == nullptr || found == seen->ours) return found;
  void* none = nullptr;
  seen->next->address.compare_exchange_strong(none, found);
  return seen->ours;
}

}  // namespace memreplay::capture
