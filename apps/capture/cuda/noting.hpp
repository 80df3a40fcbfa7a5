#pragma once

#include "cuda/cuda_format.hpp"
#include "cuda/functions.hpp"
#include "spool/recorder.hpp"

namespace memreplay::capture {

/// What a program asks for.
struct Asked {
  MemoryKind kind = MemoryKind::device;
  Library library = Library::runtime;  ///< which one is called
  size_t size = 0;
  const void* stream = nullptr;
  const void* pool = nullptr;
  int device = -1;  ///< -1: the calling thread's own
};

/// Around a call that gives memory.
class Allocating {
 public:
  explicit Allocating(const Asked& asked) : asked_(asked) {}
  /// Notes what came of it, and gives the result back. The place is looked at where it is one.
  int done(int result, const void* place);
  void resize(size_t size) { asked_.size = size; }

 private:
  Outermost outermost_;
  Asked asked_;
};

/// Around a call that takes memory back.
class Freeing {
 public:
  Freeing(MemoryKind kind, uint64_t address, const void* stream = nullptr);
  int done(int result);

 private:
  Outermost outermost_;
  CudaRecord record_;
};

inline uint64_t number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace memreplay::capture
