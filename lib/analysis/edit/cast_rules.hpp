#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// What torch.autocast does with an operation, after the lists in ATen/autocast_mode.h.
enum class CastRule : std::uint8_t {
  none,      ///< leaves it alone: it makes or looks up data
  half,      ///< matrix products, convolutions, attention: in half precision
  single,    ///< norms, softmax, losses, powers: in fp32
  loss,      ///< cross_entropy: its log_softmax follows the input, its nll_loss is in fp32
  follows,   ///< the result has the type of the input
  promotes,  ///< the widest type of all inputs; also of operations that no frame names
};

/// An operation, as the frames of a stack show it: C++ frames name it, Python frames name modules
/// and functions of torch.
struct NamedOperation {
  CastRule rule = CastRule::promotes;
  bool in_module = false;             ///< a layer with weights of torch.nn: linear, convolution
  bool convolves = false;             ///< likewise
  bool has_parameters = false;        ///< a norm or an embedding
  bool optimizes = false;             ///< asked for by torch.optim
  bool by_function = false;           ///< told by a function of torch.nn.functional alone
  bool by_operator = false;           ///< told by C++ frames
  bool is_softmax = false;            ///< the one of torch.nn.functional
  bool casts = false;                 ///< autocast itself asked
  std::uint32_t call = 0;             ///< equal where one call of the program asked
  std::vector<std::uint32_t> python;  ///< its Python frames, innermost first
};

/// By stack of the recording. O(stacks · frames).
std::vector<NamedOperation> named_operations(const Recording& recording);

}  // namespace memreplay
