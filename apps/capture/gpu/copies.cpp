#include "contents.hpp"
#include "device/host/pointer.hpp"
#include "machine.hpp"
#include "streams.hpp"

using namespace memreplay::gpu;
using memreplay::pointer_to;

namespace {

Status copied(void* to, const void* from, std::size_t size) {
  work_was_launched();
  copy(to, from, size);
  return kSuccess;
}

Status copied_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t rows) {
  work_was_launched();
  for (std::size_t row = 0; row < rows; ++row) {
    copy(static_cast<std::byte*>(to) + row * to_pitch,
         static_cast<const std::byte*>(from) + row * from_pitch, width);
  }
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaMemcpy(void* to, const void* from, std::size_t size, int) {
  copied(to, from, size);
  everything_is_done();
  return kSuccess;
}

Status cudaMemcpyAsync(void* to, const void* from, std::size_t size, int, Stream) {
  return copied(to, from, size);
}

Status cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, Stream) {
  return copied(to, from, size);
}

Status cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t rows, int) {
  copied_rows(to, to_pitch, from, from_pitch, width, rows);
  everything_is_done();
  return kSuccess;
}

Status cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t rows, int, Stream) {
  return copied_rows(to, to_pitch, from, from_pitch, width, rows);
}

Status cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int) {
  return kSuccess;
}

Status cudaMemset(void* to, int value, std::size_t size) {
  work_was_launched();
  set(to, value, size);
  return kSuccess;
}

Status cudaMemsetAsync(void* to, int value, std::size_t size, Stream) {
  return cudaMemset(to, value, size);
}

Status cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t size, Stream) {
  return copied(pointer_to(to), from, size);
}

Status cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t size, Stream) {
  return copied(to, pointer_to(from), size);
}

Status cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t size, Stream) {
  return copied(pointer_to(to), pointer_to(from), size);
}

Status cuMemsetD32Async(DevicePointer, unsigned, std::size_t, Stream) {
  work_was_launched();
  a_kernel_ran();
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
