#include "cuda/noting.hpp"

#include <cstring>

namespace memreplay::capture {

constinit const RecorderKind kRecorder{"cuda", sizeof(CudaRecord)};

namespace {

constexpr int kOutOfMemory = 2;  // in both libraries

constinit Next<int(int*)> next_cudaGetDevice{{"cudaGetDevice", Library::runtime}};
constinit Next<int(int*)> next_cuCtxGetDevice{{"cuCtxGetDevice", Library::driver}};

int current_device(Library library) {
  int device = 0;
  const int result =
      library == Library::runtime ? next_cudaGetDevice(&device) : next_cuCtxGetDevice(&device);
  return result == 0 ? device : 0;
}

}  // namespace

int Allocating::done(int result, const void* place) {
  if (!outermost_) return result;
  CudaRecord record;
  Call call = Call::allocate;
  if (result != 0) call = result == kOutOfMemory ? Call::refused : Call::failed;
  if (result == 0) std::memcpy(&record.address, place, sizeof record.address);
  record.what = described(call, asked_.size);
  record.stream = number(asked_.stream);
  record.object = number(asked_.pool);
  const bool has_device = asked_.kind != MemoryKind::pinned && asked_.kind != MemoryKind::addresses;
  record.device = !has_device          ? -1
                  : asked_.device >= 0 ? asked_.device
                                       : current_device(asked_.library);
  record.result = result;
  record.kind = asked_.kind;
  // What gives nothing for a size of 0.
  if (result != 0 || record.address != 0) write(record);
  return result;
}

Freeing::Freeing(MemoryKind kind, uint64_t address, const void* stream) {
  record_.address = address;
  record_.kind = kind;
  record_.stream = number(stream);
  record_.what = described(Call::free, 0);
  if (outermost_ && address != 0) write(record_);
}

int Freeing::done(int result) {
  if (!outermost_ || result == 0 || record_.address == 0) return result;
  record_.what = described(Call::kept, 0);
  record_.result = result;
  write(record_);
  return result;
}

}  // namespace memreplay::capture
