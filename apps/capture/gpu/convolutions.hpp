#pragma once

#include <cstdint>
#include <vector>

namespace memreplay::gpu {

/// A convolution as cuDNN's graphs describe it. Sizes begin with the batch and the channels, in a
/// filter with the channels that it makes and those that it reads.
struct Convolution {
  enum class Pass { forward, data, filter };

  Pass pass = Pass::forward;
  std::uint64_t element = 4;  ///< bytes
  bool is_float16 = false;
  bool channels_last = false;
  std::uint64_t multiprocessors = 132;
  std::vector<std::uint64_t> input, filter, output;
  std::vector<std::uint64_t> strides, padding;
};

/// The workspace of the algorithm that cuDNN prefers, fitted to 9,500 convolutions of two
/// dimensions under cuDNN 9.19 on an H100: copies of the three tensors with their channels last and
/// padded, where the tensors are not so and the work is worth it, and the partial sums of a
/// filter's gradient. What the algorithm keeps beside that, some hundred bytes, is left out, as is
/// all that other layouts, groups and channels last need.
std::uint64_t workspace_of(const Convolution& convolution);

}  // namespace memreplay::gpu
