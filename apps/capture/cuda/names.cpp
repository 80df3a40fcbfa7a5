#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "cuda/functions.hpp"
#include "spool/recorder.hpp"

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

// Functions that look functions up: what they find is ours, where we have it.
using namespace memreplay::capture;

namespace {

using Dlsym = void* (*)(void*, const char*);

Dlsym next_dlsym() {
  static std::atomic<Dlsym> next{nullptr};
  if (const Dlsym known = next.load(std::memory_order_acquire)) return known;
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  next.store(reinterpret_cast<Dlsym>(found), std::memory_order_release);
  return reinterpret_cast<Dlsym>(found);
}

constexpr uint64_t kStreamOfTheThread = 2;

/// Puts ours in place of a driver's function that was asked for by its plain name.
int replaced(int result, const char* name, void** function, bool stream_of_the_thread,
             bool with_status = true) {
  if (result != 0 || function == nullptr || *function == nullptr) return result;
  char exported[64];
  for (const char* end : {stream_of_the_thread ? "_ptsz" : "_v2", "_v2", ""}) {
    const bool first_form = !with_status && std::strcmp(name, "cuGetProcAddress") == 0;
    if (first_form && end[0] != '\0') continue;
    if (std::snprintf(exported, sizeof exported, "%s%s", name, end) >= int{sizeof exported}) break;
    void* const ours = in_place_of(exported, *function);
    if (ours == *function) continue;
    *function = ours;
    break;
  }
  return result;
}

constexpr int kFirstWithStatus = 12000;

}  // namespace

namespace memreplay::capture {

void* look_up(void* handle, const char* name) { return next_dlsym()(handle, name); }

}  // namespace memreplay::capture

/// For the program's own sake RTLD_NEXT and RTLD_DEFAULT are passed on by a jump: they depend on
/// who calls.
extern "C" [[gnu::visibility("default")]] void* dlsym(void* handle, const char* name) noexcept {
  const Dlsym next = next_dlsym();
  const bool is_cuda = name[0] == 'c' && name[1] == 'u';
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !is_cuda) return next(handle, name);
  return in_place_of(name, next(handle, name));
}

int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return replaced(next_cuGetProcAddress(name, function, version, flags), name, function,
                  flags & kStreamOfTheThread, version >= kFirstWithStatus);
}

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                        int* status) {
  return replaced(next_cuGetProcAddress_v2(name, function, version, flags, status), name, function,
                  flags & kStreamOfTheThread, version >= kFirstWithStatus);
}

int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                            int* status) {
  return replaced(next_cudaGetDriverEntryPoint(name, function, flags, status), name, function,
                  flags & kStreamOfTheThread);
}

int cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long flags,
                                 int* status) {
  return replaced(next_cudaGetDriverEntryPoint_ptsz(name, function, flags, status), name, function,
                  true);
}

int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                     unsigned long long flags, int* status) {
  return replaced(next_cudaGetDriverEntryPointByVersion(name, function, version, flags, status),
                  name, function, flags & kStreamOfTheThread, version >= kFirstWithStatus);
}

int cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function, unsigned version,
                                          unsigned long long flags, int* status) {
  return replaced(
      next_cudaGetDriverEntryPointByVersion_ptsz(name, function, version, flags, status), name,
      function, true, version >= kFirstWithStatus);
}
