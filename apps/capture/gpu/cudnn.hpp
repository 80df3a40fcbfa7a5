#pragma once

#include <array>
#include <cstddef>

#include "abi.hpp"

namespace memreplay::gpu::cudnn {

inline constexpr Status kBadParameter = 2000;

/// What cudnnSetTensorNdDescriptor and cudnnSetFilterNdDescriptor were given; a filter has its
/// format instead of strides.
struct Tensor {
  static constexpr int kMostSizes = 8;  // CUDNN_DIM_MAX

  int type = 0;
  int format = 0;
  int rank = 0;
  std::array<int, kMostSizes> sizes{};
  std::array<int, kMostSizes> strides{};
};

struct Dropout {  // cudnnDropoutDescriptor_t
  float rate = 0;
};

/// In bytes, by cudnnDataType_t.
std::size_t element_size(int type);

template <class Object>
Object& at(Handle handle) {
  return *static_cast<Object*>(handle);
}

template <class Object>
Status create(Handle* handle) {
  *handle = new Object;
  return kSuccess;
}

template <class Object>
Status destroy(Handle handle) {
  delete static_cast<Object*>(handle);
  return kSuccess;
}

}  // namespace memreplay::gpu::cudnn
