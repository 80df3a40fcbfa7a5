#include <cstring>

#include "answers.hpp"
#include "machine.hpp"
#include "runtime.hpp"

// cuBLAS and cuBLASLt, as far as a program needs an answer from them.
using namespace memreplay::gpu;

namespace {

/// As of the compiler: 12.8 is 120800.
int version() {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  return runtime / 1000 * 10000 + runtime % 1000 / 10 * 100;
}

/// A scalar result, which lies on the host or on the device.
Status give_scalar(void* to, std::size_t size) {
  if (machine().device_of(to)) return computed();
  std::memset(to, 0, size);
  value_was_read(size);
  return kSuccess;
}

Status copy_columns(std::size_t rows, std::size_t columns, std::size_t element, const char* from,
                    std::size_t from_rows, char* to, std::size_t to_rows) {
  for (std::size_t i = 0; i < columns; ++i)
    copy(to + i * to_rows * element, from + i * from_rows * element, rows * element);
  work_was_launched();
  return kSuccess;
}

struct LtResult {  // cublasLtMatmulHeuristicResult_t
  std::uint64_t algorithm[8];
  std::size_t workspace;
  Status status;
  float waves;
  int reserved[4];
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cublasCreate_v2(Handle* library) {
  give_library(library);
  return machine().load(CardLibrary::cublas);
}
Status cublasGetPointerMode_v2(Handle, int* mode) { return give(mode, 0); }
Status cublasGetMathMode(Handle, int* mode) { return give(mode, 0); }
const char* cublasGetStatusString(Status status) {
  return status == kSuccess ? "the request completed successfully"
                            : "cublasStatus_t of the virtual GPU";
}
const char* cublasGetStatusName(Status status) {
  return status == kSuccess ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS of the virtual GPU";
}
Status cublasGetVersion_v2(Handle, int* to) { return give(to, version()); }

#define MEMREPLAY_PRODUCT(NAME, SIZE)                                          \
  Status NAME(Handle, int, const void*, int, const void*, int, void* result) { \
    return give_scalar(result, SIZE);                                          \
  }
#define MEMREPLAY_REDUCTION(NAME, SIZE) \
  Status NAME(Handle, int, const void*, int, void* result) { return give_scalar(result, SIZE); }
#define MEMREPLAY_REDUCTIONS(TYPE, REAL, SIZE)             \
  MEMREPLAY_REDUCTION(cublas##REAL##nrm2_v2, SIZE)         \
  MEMREPLAY_REDUCTION(cublas##REAL##asum_v2, SIZE)         \
  MEMREPLAY_REDUCTION(cublasI##TYPE##amax_v2, sizeof(int)) \
  MEMREPLAY_REDUCTION(cublasI##TYPE##amin_v2, sizeof(int))
MEMREPLAY_PRODUCT(cublasSdot_v2, 4)
MEMREPLAY_PRODUCT(cublasDdot_v2, 8)
MEMREPLAY_PRODUCT(cublasCdotc_v2, 8)
MEMREPLAY_PRODUCT(cublasCdotu_v2, 8)
MEMREPLAY_PRODUCT(cublasZdotc_v2, 16)
MEMREPLAY_PRODUCT(cublasZdotu_v2, 16)
MEMREPLAY_REDUCTIONS(s, S, 4)
MEMREPLAY_REDUCTIONS(d, D, 8)
MEMREPLAY_REDUCTIONS(c, Sc, 4)
MEMREPLAY_REDUCTIONS(z, Dz, 8)
#undef MEMREPLAY_REDUCTIONS
#undef MEMREPLAY_REDUCTION
#undef MEMREPLAY_PRODUCT

Status cublasDotEx(Handle, int, const void*, int, int, const void*, int, int, void* result,
                   int type, int) {
  return give_scalar(result, size_of_type(type));
}

#define MEMREPLAY_BATCHED(TYPE)                                                                    \
  Status cublas##TYPE##getrsBatched(Handle, int, int, int, const void*, int, const int*,           \
                                    const void*, int, int* info, int) {                            \
    computed();                                                                                    \
    return give(info, 0);                                                                          \
  }                                                                                                \
  Status cublas##TYPE##geqrfBatched(Handle, int, int, const void*, int, const void*, int* info,    \
                                    int) {                                                         \
    computed();                                                                                    \
    return give(info, 0);                                                                          \
  }                                                                                                \
  Status cublas##TYPE##gelsBatched(Handle, int, int, int, int, const void*, int, const void*, int, \
                                   int* info, int*, int) {                                         \
    computed();                                                                                    \
    return give(info, 0);                                                                          \
  }
MEMREPLAY_BATCHED(S)
MEMREPLAY_BATCHED(D)
MEMREPLAY_BATCHED(C)
MEMREPLAY_BATCHED(Z)
#undef MEMREPLAY_BATCHED

Status cublasGetMatrixAsync(int rows, int columns, int element, const char* from, int from_rows,
                            char* to, int to_rows, Stream) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  return copy_columns(count(rows), count(columns), count(element), from, count(from_rows), to,
                      count(to_rows));
}

Status cublasSetMatrixAsync(int rows, int columns, int element, const char* from, int from_rows,
                            char* to, int to_rows, Stream stream) {
  return cublasGetMatrixAsync(rows, columns, element, from, from_rows, to, to_rows, stream);
}

Status cublasGetVectorAsync(int count, int element, const char* from, int from_step, char* to,
                            int to_step, Stream stream) {
  if (from_step == 1 && to_step == 1)
    return cublasGetMatrixAsync(count, 1, element, from, count, to, count, stream);
  return cublasGetMatrixAsync(1, count, element, from, from_step, to, to_step, stream);
}

Status cublasSetVectorAsync(int count, int element, const char* from, int from_step, char* to,
                            int to_step, Stream stream) {
  return cublasGetVectorAsync(count, element, from, from_step, to, to_step, stream);
}

Status cublasLtCreate(Handle* library) { return give_library(library); }
Status cublasLtDestroy(Handle) { return kSuccess; }
std::size_t cublasLtGetVersion() { return static_cast<std::size_t>(version()); }
Status cublasLtMatmulDescCreate(Handle* product, int, int) { return give_handle(product); }
Status cublasLtMatrixLayoutCreate(Handle* layout, int, std::uint64_t, std::uint64_t, std::int64_t) {
  return give_handle(layout);
}
Status cublasLtMatmulPreferenceCreate(Handle* preference) { return give_handle(preference); }

/// One algorithm that needs no workspace: PyTorch holds one of a fixed size ready beforehand.
Status cublasLtMatmulAlgoGetHeuristic(Handle, Handle, Handle, Handle, Handle, Handle, Handle,
                                      int room, LtResult* results, int* count) {
  if (room > 0) *results = {};
  return give(count, room > 0 ? 1 : 0);
}

Status cublasLtMatmulAlgoCheck(Handle, Handle, Handle, Handle, Handle, Handle, const void*,
                               LtResult* result) {
  *result = {};
  return kSuccess;
}

Status cublasLtMatmulAlgoConfigGetAttribute(const void*, int, void* value, std::size_t size,
                                            std::size_t* written) {
  if (size > 0) std::memset(value, 0, size);
  return written ? give(written, size) : kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
