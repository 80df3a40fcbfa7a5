#include <algorithm>

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
