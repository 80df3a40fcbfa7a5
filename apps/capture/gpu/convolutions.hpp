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
  bool tensor_cores = true;  ///< for float32 as well: TF32 is allowed
  bool channels_last = false;
  int capability = 90;  ///< the card's, times ten
  std::uint64_t multiprocessors = 132;
  std::vector<std::uint64_t> input, filter, output;
  std::vector<std::uint64_t> strides, padding, dilations;
};

/// The workspace of the engine that cuDNN prefers: closed forms of engines, and a tree for each
/// capability and pass that says which engine it is, fitted to answers of cuDNN 9.19 (7.0: 9.10)
/// without a device. Newer and older releases are taken to answer alike. Within 2 % or 2 KiB, of
/// convolutions kept apart (1,300 forward, 1,400 data; 7.5: 900, 1,000; 7.0: 330, 400), in %:
///
///              V100   T4  TITAN RTX  A100  RTX 4090  H100  B200  RTX 5090
///     forward    77   79         79    78        74    84    82        81
///     data       80   87         85    80        78    90    84        85
///     filter     70   62         62    50        55    21    55        54
///
/// The filter pass of 9.0 was fitted to figures of a real H100 instead, which are other ones.
std::uint64_t workspace_of(const Convolution& convolution);

}  // namespace memreplay::gpu
