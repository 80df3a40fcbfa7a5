#include <algorithm>
#include <cstring>

#include "answers.hpp"

// cuSPARSE. Its workspaces are modelled as none. How many elements a result has depends on where
// those of the arguments lie, which nobody knows here.
using namespace memreplay::gpu;

namespace {

struct Matrix {  // cusparseSpMatDescr_t
  std::int64_t rows = 0, columns = 0, elements = 0;
};

Matrix& at(Handle matrix) { return *static_cast<Matrix*>(matrix); }

Status create(Handle* to, std::int64_t rows, std::int64_t columns, std::int64_t elements) {
  *to = new Matrix{rows, columns, elements};
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cusparseCreate(Handle* library) { return give_library(library); }
const char* cusparseGetErrorString(Status) { return "cusparseStatus_t of the virtual GPU"; }

Status cusparseCreateCsr(Handle* matrix, std::int64_t rows, std::int64_t columns,
                         std::int64_t elements, void*, void*, void*, int, int, int, int) {
  return create(matrix, rows, columns, elements);
}
Status cusparseCreateCoo(Handle* matrix, std::int64_t rows, std::int64_t columns,
                         std::int64_t elements, void*, void*, void*, int, int, int) {
  return create(matrix, rows, columns, elements);
}
Status cusparseDestroySpMat(Handle matrix) {
  delete &at(matrix);
  return kSuccess;
}
Status cusparseSpMatGetSize(Handle matrix, std::int64_t* rows, std::int64_t* columns,
                            std::int64_t* elements) {
  *rows = at(matrix).rows;
  *columns = at(matrix).columns;
  return give(elements, at(matrix).elements);
}

Status cusparseCreateDnMat(Handle* matrix, std::int64_t, std::int64_t, std::int64_t, void*, int,
                           int) {
  return give_handle(matrix);
}
Status cusparseCreateDnVec(Handle* vector, std::int64_t, void*, int) { return give_handle(vector); }
Status cusparseCreateMatDescr(Handle* description) { return give_handle(description); }
Status cusparseCreateBsrsv2Info(Handle* info) { return give_handle(info); }
Status cusparseCreateBsrsm2Info(Handle* info) { return give_handle(info); }
Status cusparseSpGEMM_createDescr(Handle* description) { return give_handle(description); }
Status cusparseSpSV_createDescr(Handle* description) { return give_handle(description); }
Status cusparseSpSM_createDescr(Handle* description) { return give_handle(description); }

Status cusparseSpMM_bufferSize(Handle, int, int, const void*, Handle, Handle, const void*, Handle,
                               int, int, std::size_t* size) {
  return give_modelled("cusparseSpMM", size, 0);
}
Status cusparseSpMV_bufferSize(Handle, int, const void*, Handle, Handle, const void*, Handle, int,
                               int, std::size_t* size) {
  return give_modelled("cusparseSpMV", size, 0);
}
Status cusparseSDDMM_bufferSize(Handle, int, int, const void*, Handle, Handle, const void*, Handle,
                                int, int, std::size_t* size) {
  return give_modelled("cusparseSDDMM", size, 0);
}
Status cusparseSpSV_bufferSize(Handle, int, const void*, Handle, Handle, Handle, int, int, Handle,
                               std::size_t* size) {
  return give_modelled("cusparseSpSV", size, 0);
}
Status cusparseSpSM_bufferSize(Handle, int, int, const void*, Handle, Handle, Handle, int, int,
                               Handle, std::size_t* size) {
  return give_modelled("cusparseSpSM", size, 0);
}
Status cusparseXcoosort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                      std::size_t* size) {
  return give_modelled("cusparseXcoosort", size, 0);
}
Status cusparseXcsrsort_bufferSizeExt(Handle, int, int, int, const int*, const int*,
                                      std::size_t* size) {
  return give_modelled("cusparseXcsrsort", size, 0);
}

Status cusparseSpGEMM_workEstimation(Handle, int, int, const void*, Handle, Handle, const void*,
                                     Handle, int, int, Handle, std::size_t* size, void*) {
  return give_modelled("cusparseSpGEMM", size, 0);
}

/// The product has as many elements as if those of both lay by chance, at most all places.
Status cusparseSpGEMM_compute(Handle, int, int, const void*, Handle a, Handle b, const void*,
                              Handle c, int, int, Handle, std::size_t* size, void*) {
  const std::int64_t inner = std::max<std::int64_t>(at(a).columns, 1);
  const std::int64_t expected = at(a).elements * at(b).elements / inner;
  at(c).elements = std::min(expected, at(c).rows * at(c).columns);
  value_was_read(sizeof at(c).elements);
  computed();
  return give_modelled("cusparseSpGEMM", size, 0);
}

/// The sum has as many elements as if none of both lay at the same place.
Status cusparseXcsrgeam2Nnz(Handle, int rows, int columns, Handle, int a_elements, const int*,
                            const int*, Handle, int b_elements, const int*, const int*, Handle,
                            int*, int* elements, void*) {
  computed();
  value_was_read(sizeof *elements);
  const auto all = static_cast<std::int64_t>(rows) * columns;
  return give(elements, static_cast<int>(std::min<std::int64_t>(a_elements + b_elements, all)));
}

Status cusparseXbsrsv2_zeroPivot(Handle, Handle, int* position) { return give(position, -1); }
Status cusparseXbsrsm2_zeroPivot(Handle, Handle, int* position) { return give(position, -1); }

#define MEMREPLAY_OF_TYPE(T)                                                                   \
  Status cusparse##T##csrgeam2_bufferSizeExt(                                                  \
      Handle, int, int, const void*, Handle, int, const void*, const int*, const int*,         \
      const void*, Handle, int, const void*, const int*, const int*, Handle, const void*,      \
      const int*, const int*, std::size_t* size) {                                             \
    return give_modelled("cusparse" #T "csrgeam2", size, 0);                                   \
  }                                                                                            \
  Status cusparse##T##bsrsv2_bufferSize(Handle, int, int, int, int, Handle, void*, const int*, \
                                        const int*, int, Handle, int* size) {                  \
    return give_modelled("cusparse" #T "bsrsv2", size, 0);                                     \
  }                                                                                            \
  Status cusparse##T##bsrsm2_bufferSize(Handle, int, int, int, int, int, int, Handle, void*,   \
                                        const int*, const int*, int, Handle, int* size) {      \
    return give_modelled("cusparse" #T "bsrsm2", size, 0);                                     \
  }
MEMREPLAY_OF_TYPE(S)
MEMREPLAY_OF_TYPE(D)
MEMREPLAY_OF_TYPE(C)
MEMREPLAY_OF_TYPE(Z)
#undef MEMREPLAY_OF_TYPE

}  // extern "C"
#pragma GCC visibility pop

// cuSPARSELt: matrices of which two of four elements are there. Its descriptors lie with the
// caller.

namespace {

/// What the stand-in keeps of a matrix, in the 1024 bytes (at the least) that the caller gives.
struct HalfMatrix {
  std::int64_t rows, columns;
  int type;
};

/// Bits of an element of cudaDataType: halves 2 and 14, single 0, four bits 33, else bytes.
std::size_t element_bits(int type) {
  switch (type) {
    case 2:
    case 14:
      return 16;
    case 0:
      return 32;
    case 33:
      return 4;
    default:
      return 8;
  }
}

Status describe(HalfMatrix* matrix, std::int64_t rows, std::int64_t columns, int type) {
  *matrix = {rows, columns, type};
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cusparseLtDenseDescriptorInit(const void*, HalfMatrix* matrix, std::int64_t rows,
                                     std::int64_t columns, std::int64_t, std::uint32_t, int type,
                                     int) {
  return describe(matrix, rows, columns, type);
}
Status cusparseLtStructuredDescriptorInit(const void*, HalfMatrix* matrix, std::int64_t rows,
                                          std::int64_t columns, std::int64_t, std::uint32_t,
                                          int type, int, int) {
  return describe(matrix, rows, columns, type);
}

/// By a model, NVIDIA's description of the format: half of the elements, and two bits for each that
/// say where it lies.
Status cusparseLtSpMMACompressedSize2(const void*, const HalfMatrix* matrix, std::size_t* size,
                                      std::size_t* buffer) {
  const auto kept = static_cast<std::size_t>(matrix->rows * matrix->columns) / 2;
  *buffer = 0;
  return give_modelled("cusparseLtSpMMACompress2", size,
                       kept * (element_bits(matrix->type) + 2) / 8);
}

Status cusparseLtMatmulGetWorkspace(const void*, const void*, std::size_t* size) {
  return give_modelled("cusparseLtMatmul", size, 0);
}

Status cusparseLtMatmulAlgGetAttribute(const void*, const void*, int, void* value,
                                       std::size_t size) {
  std::memset(value, 0, size);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
