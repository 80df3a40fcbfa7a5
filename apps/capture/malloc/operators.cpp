// C++'s operators new and delete. Those of the C++ library call malloc and free, which record;
// those of an allocator (jemalloc, tcmalloc, mimalloc) do not, and are recorded here.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "malloc/noting.hpp"
#include "spool/recorder.hpp"

using namespace memreplay::capture;

namespace {

/// The operator that the program would have without us.
class NextOperator {
 public:
  constexpr explicit NextOperator(const char* name) : name_(name) {}

  /// Null where no library has it.
  void* find() {
    if (void* const known = address_.load(std::memory_order_acquire)) return known;
    void* const found = look_up();
    Dl_info about;
    if (found != nullptr && dladdr(found, &about) != 0) {
      calls_malloc_ = std::strstr(about.dli_fname, "libstdc++") != nullptr ||
                      std::strstr(about.dli_fname, "libc++") != nullptr;
    }
    address_.store(found, std::memory_order_release);
    return found;
  }
  bool calls_malloc() const { return calls_malloc_.load(std::memory_order_relaxed); }

 private:
  void* look_up() const {
    if (void* const found = dlsym(RTLD_NEXT, name_)) return found;
    for (const char* library : {"libstdc++.so", "libc++.so", "libc++abi.so"}) {
      void* const handle = loaded_library(library);
      if (handle != nullptr) return dlsym(handle, name_);
    }
    return nullptr;
  }

  const char* name_;
  std::atomic<void*> address_{nullptr};
  std::atomic<bool> calls_malloc_{false};
};

void* of_malloc(std::size_t size) { return std::malloc(size == 0 ? 1 : size); }
void* of_malloc(std::size_t size, std::align_val_t alignment) {
  void* block = nullptr;
  const auto bytes = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  return posix_memalign(&block, bytes, size == 0 ? 1 : size) == 0 ? block : nullptr;
}
std::size_t bytes_of() { return 0; }
std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

/// Both forms of one operator new; `Alignment` is nothing or an alignment.
template <typename... Alignment>
class New {
 public:
  constexpr New(const char* throwing, const char* nothrow)
      : throwing_(throwing), nothrow_(nothrow) {}

  void* or_nothing(std::size_t size, Alignment... alignment) {
    void* const next = nothrow_.find();
    if (next == nullptr) return of_malloc(size, alignment...);
    const auto function =
        reinterpret_cast<void* (*)(std::size_t, Alignment..., const std::nothrow_t&)>(next);
    if (nothrow_.calls_malloc()) return function(size, alignment..., std::nothrow);
    const Outermost outermost;
    void* const block = function(size, alignment..., std::nothrow);
    if (outermost) {
      block == nullptr ? note<Call::refused>(block, size, bytes_of(alignment...))
                       : note<Call::allocate>(block, size, bytes_of(alignment...));
    }
    return block;
  }

  /// What may throw is called where nothing of ours is in its way.
  void* or_throw(std::size_t size, Alignment... alignment) {
    void* const next = throwing_.find();
    if (next == nullptr) {
      void* const block = of_malloc(size, alignment...);
      return block == nullptr ? std::abort(), nullptr : block;
    }
    const auto function = reinterpret_cast<void* (*)(std::size_t, Alignment...)>(next);
    if (throwing_.calls_malloc() || cursor.busy) return function(size, alignment...);
    if (void* const block = or_nothing(size, alignment...)) return block;
    void* const block = function(size, alignment...);
    note<Call::allocate>(block, size, bytes_of(alignment...));
    return block;
  }

 private:
  NextOperator throwing_;
  NextOperator nothrow_;
};

template <typename... Rest>
class Delete {
 public:
  constexpr explicit Delete(const char* name) : next_(name) {}

  void operator()(void* block, Rest... rest) {
    void* const next = next_.find();
    if (next == nullptr) return std::free(block);
    const auto function = reinterpret_cast<void (*)(void*, Rest...)>(next);
    if (next_.calls_malloc()) return function(block, rest...);
    const Outermost outermost;
    if (outermost && block != nullptr) note<Call::free>(block);
    function(block, rest...);
  }

 private:
  NextOperator next_;
};

using Nothrow = const std::nothrow_t&;
using std::align_val_t;

constinit New<> new_one("_Znwm", "_ZnwmRKSt9nothrow_t");
constinit New<> new_array("_Znam", "_ZnamRKSt9nothrow_t");
constinit New<align_val_t> new_aligned("_ZnwmSt11align_val_t",
                                       "_ZnwmSt11align_val_tRKSt9nothrow_t");
constinit New<align_val_t> new_aligned_array("_ZnamSt11align_val_t",
                                             "_ZnamSt11align_val_tRKSt9nothrow_t");
constinit Delete<> delete_one("_ZdlPv");
constinit Delete<> delete_array("_ZdaPv");
constinit Delete<std::size_t> delete_sized("_ZdlPvm");
constinit Delete<std::size_t> delete_sized_array("_ZdaPvm");
constinit Delete<Nothrow> delete_nothrow("_ZdlPvRKSt9nothrow_t");
constinit Delete<Nothrow> delete_nothrow_array("_ZdaPvRKSt9nothrow_t");
constinit Delete<align_val_t> delete_aligned("_ZdlPvSt11align_val_t");
constinit Delete<align_val_t> delete_aligned_array("_ZdaPvSt11align_val_t");
constinit Delete<std::size_t, align_val_t> delete_sized_aligned("_ZdlPvmSt11align_val_t");
constinit Delete<std::size_t, align_val_t> delete_sized_aligned_array("_ZdaPvmSt11align_val_t");
constinit Delete<align_val_t, Nothrow> delete_aligned_nothrow(
    "_ZdlPvSt11align_val_tRKSt9nothrow_t");
constinit Delete<align_val_t, Nothrow> delete_aligned_nothrow_array(
    "_ZdaPvSt11align_val_tRKSt9nothrow_t");

}  // namespace

#pragma GCC visibility push(default)

void* operator new(std::size_t size) { return new_one.or_throw(size); }
void* operator new[](std::size_t size) { return new_array.or_throw(size); }
void* operator new(std::size_t size, Nothrow) noexcept { return new_one.or_nothing(size); }
void* operator new[](std::size_t size, Nothrow) noexcept { return new_array.or_nothing(size); }
void* operator new(std::size_t size, align_val_t to) { return new_aligned.or_throw(size, to); }
void* operator new[](std::size_t size, align_val_t to) {
  return new_aligned_array.or_throw(size, to);
}
void* operator new(std::size_t size, align_val_t to, Nothrow) noexcept {
  return new_aligned.or_nothing(size, to);
}
void* operator new[](std::size_t size, align_val_t to, Nothrow) noexcept {
  return new_aligned_array.or_nothing(size, to);
}

void operator delete(void* block) noexcept { delete_one(block); }
void operator delete[](void* block) noexcept { delete_array(block); }
void operator delete(void* block, std::size_t size) noexcept { delete_sized(block, size); }
void operator delete[](void* block, std::size_t size) noexcept { delete_sized_array(block, size); }
void operator delete(void* block, Nothrow) noexcept { delete_nothrow(block, std::nothrow); }
void operator delete[](void* block, Nothrow) noexcept { delete_nothrow_array(block, std::nothrow); }
void operator delete(void* block, align_val_t to) noexcept { delete_aligned(block, to); }
void operator delete[](void* block, align_val_t to) noexcept { delete_aligned_array(block, to); }
void operator delete(void* block, std::size_t size, align_val_t to) noexcept {
  delete_sized_aligned(block, size, to);
}
void operator delete[](void* block, std::size_t size, align_val_t to) noexcept {
  delete_sized_aligned_array(block, size, to);
}
void operator delete(void* block, align_val_t to, Nothrow) noexcept {
  delete_aligned_nothrow(block, to, std::nothrow);
}
void operator delete[](void* block, align_val_t to, Nothrow) noexcept {
  delete_aligned_nothrow_array(block, to, std::nothrow);
}

#pragma GCC visibility pop
