#include <cstdint>
#include <cstring>

#include "answers.hpp"
#include "runtime.hpp"

// NVRTC and CUPTI: what is compiled is of no use to anybody, and nothing is traced.
using namespace memreplay::gpu;

namespace {

constexpr std::size_t kBinary = 16;

int runtime() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version;
}

int compiler_major() { return runtime() / 1000; }
int compiler_minor() { return runtime() % 1000 / 10; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status nvrtcVersion(int* major, int* minor) {
  *minor = compiler_minor();
  return give(major, compiler_major());
}

const char* nvrtcGetErrorString(Status) { return "nvrtcResult of the virtual GPU"; }

Status nvrtcCreateProgram(Handle* program, const char*, const char*, int, const char* const*,
                          const char* const*) {
  return give_handle(program);
}

Status nvrtcGetPTXSize(Handle, std::size_t* size) { return give(size, kBinary); }
Status nvrtcGetPTX(Handle, char* binary) {
  std::memset(binary, 0, kBinary);
  return kSuccess;
}

Status nvrtcGetCUBINSize(Handle, std::size_t* size) { return give(size, kBinary); }
Status nvrtcGetCUBIN(Handle, char* binary) {
  std::memset(binary, 0, kBinary);
  return kSuccess;
}

Status nvrtcGetProgramLogSize(Handle, std::size_t* size) { return give(size, 1); }
Status nvrtcGetProgramLog(Handle, char* text) { return give(text, '\0'); }

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
