#include <cstring>

#include "answers.hpp"

// cuSPARSELt: matrices of which two of four elements are there. Its descriptors lie with the
// caller.
using namespace memreplay::gpu;

namespace {

/// What the stand-in keeps of a matrix, in the 1024 bytes (at the least) that the caller gives.
struct Matrix {
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

Status describe(Matrix* matrix, std::int64_t rows, std::int64_t columns, int type) {
  *matrix = {rows, columns, type};
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cusparseLtDenseDescriptorInit(const void*, Matrix* matrix, std::int64_t rows,
                                     std::int64_t columns, std::int64_t, std::uint32_t, int type,
                                     int) {
  return describe(matrix, rows, columns, type);
}
Status cusparseLtStructuredDescriptorInit(const void*, Matrix* matrix, std::int64_t rows,
                                          std::int64_t columns, std::int64_t, std::uint32_t,
                                          int type, int, int) {
  return describe(matrix, rows, columns, type);
}

/// By a model, NVIDIA's description of the format: half of the elements, and two bits for each that
/// say where it lies.
Status cusparseLtSpMMACompressedSize2(const void*, const Matrix* matrix, std::size_t* size,
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
