#include <cstdint>
#include <cstring>

#include "abi.hpp"
#include "runtime.hpp"

// The maths libraries, as far as a program needs an answer from them: handles, versions, modes.
using namespace memreplay::gpu;

namespace {

Status give_handle(Handle* handle) {
  static char nothing;
  *handle = &nothing;
  return kSuccess;
}

int runtime() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version;
}

int compiler_major() { return runtime() / 1000; }
int compiler_minor() { return runtime() % 1000 / 10; }

Status give_int(int* to, int value) {
  *to = value;
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cublasCreate_v2(Handle* handle) { return give_handle(handle); }
Status cublasGetPointerMode_v2(Handle, int* mode) { return give_int(mode, 0); }
Status cublasGetMathMode(Handle, int* mode) { return give_int(mode, 0); }
Status cublasGetVersion_v2(Handle, int* version) {
  return give_int(version, compiler_major() * 10000 + compiler_minor() * 100);
}

Status cublasLtCreate(Handle* handle) { return give_handle(handle); }
std::size_t cublasLtGetVersion() {
  return static_cast<std::size_t>(compiler_major() * 10000 + compiler_minor() * 100);
}
Status cublasLtMatmulDescCreate(Handle* descriptor, int, int) { return give_handle(descriptor); }
Status cublasLtMatrixLayoutCreate(Handle* layout, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return give_handle(layout);
}
Status cublasLtMatmulPreferenceCreate(Handle* preference) { return give_handle(preference); }

/// One algorithm that needs no workspace: PyTorch holds one of a fixed size ready beforehand.
Status cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int,
                                      char* results, int* count) {
  constexpr std::size_t kResult = 96;
  std::memset(results, 0, kResult);
  return give_int(count, 1);
}

Status cusolverDnCreate(Handle* handle) { return give_handle(handle); }
Status cusparseCreate(Handle* handle) { return give_handle(handle); }
Status cufftCreate(int* plan) { return give_int(plan, 1); }

Status nvrtcVersion(int* major, int* minor) {
  *minor = compiler_minor();
  return give_int(major, compiler_major());
}

Status nvrtcGetPTXSize(Handle, std::size_t* size) {
  *size = 16;
  return kSuccess;
}

Status nvrtcGetCUBINSize(Handle, std::size_t* size) {
  *size = 16;
  return kSuccess;
}

Status nvrtcGetProgramLogSize(Handle, std::size_t* size) {
  *size = 1;
  return kSuccess;
}

Status nvrtcGetLoweredName(Handle, const char* name, const char** lowered) {
  *lowered = name;
  return kSuccess;
}

Status cuptiGetVersion(std::uint32_t* version) {
  *version = static_cast<std::uint32_t>(compiler_major() * 10000);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
