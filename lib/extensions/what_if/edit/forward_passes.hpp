#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "program/lives.hpp"
#include "program/program_course.hpp"
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

/// What the backward pass does for one operation that multiplies with a weight.
struct BackwardNode {
  std::uint64_t begin = BlockLife::kNever;           ///< event of its first request
  std::uint64_t end = 0;                             ///< the first request after its own
  std::uint32_t input_gradient = BlockLives::kNone;  ///< block; none: nobody needs it

  bool is_known() const { return begin != BlockLife::kNever; }
};

/// A node of a backward pass: it ends where it frees what was there before it.
struct NodeSpan {
  std::uint64_t begin = 0;     ///< event of its first request
  std::uint64_t computed = 0;  ///< the first free of that kind, or another's request
};

/// By their begin. O(events).
std::vector<NodeSpan> node_spans(const Trace& trace, const BlockLives& lives, const Passes& passes);

/// Index of the last node that begins at an event or before it; SIZE_MAX: none.
std::size_t node_at(const std::vector<NodeSpan>& nodes, std::uint64_t event);

/// Successive requests of one operation in a forward pass.
struct ForwardOperation {
  static constexpr std::size_t kNoOperation = SIZE_MAX;

  std::vector<std::uint32_t> blocks;         ///< that it asked for, by birth
  std::uint32_t result = BlockLives::kNone;  ///< the largest that outlives it
  std::uint32_t stack = 0;
  CastRule rule = CastRule::promotes;  ///< by its frames, or its blocks
  bool attends = false;                ///< scaled_dot_product_attention
  bool weighs = false;                 ///< a softmax, or what follows it
  bool copies_attention = false;       ///< it only gives the result of one another layout
  std::uint64_t begin = 0;             ///< event of its first request
  /// The last operation before it whose result is alive when it begins; kNoOperation: there is
  /// none.
  std::size_t alive_before = kNoOperation;
  std::uint64_t end = 0;  ///< event of the next request that is none of its own

  Bytes weight = 0;                         ///< that it multiplies with; 0: none is known
  std::uint32_t input = BlockLives::kNone;  ///< block that it multiplies the weight with
  std::vector<std::uint32_t> gradients;     ///< gradients of its parameters, by birth
  bool weight_again = false;                ///< an operation before it used that weight
  BackwardNode node;
};

/// A forward pass and the backward pass that follows it, if any.
struct ForwardPass {
  std::vector<ForwardOperation> operations;
  std::vector<std::uint32_t> backward;  ///< blocks asked for by the backward pass, by birth

  std::uint64_t end(const BlockLives& lives, std::uint64_t size) const {
    return backward.empty() ? size : lives.blocks[backward.front()].born;
  }
};

/// The requests of a program as forward passes, without those of its optimizer and for parameters.
class ForwardPasses {
 public:
  /// All outlive this. O(operations · gradients) for each pass.
  ForwardPasses(const Trace& trace, const BlockLives& lives, const Passes& passes,
                const std::vector<NamedOperation>& names);

  const std::vector<ForwardPass>& passes() const { return passes_; }
  const std::vector<NodeSpan>& nodes() const { return nodes_; }
  const NamedOperation& named(const ForwardOperation& operation) const {
    return names_[operation.stack];
  }
  /// Freed before anything else is asked for, as workspaces are.
  bool is_workspace(std::uint32_t block) const;
  /// A product saves its weight for the gradient of what it is multiplied with, which data does not
  /// need; convolutions save it anyway.
  bool saves_weight(const ForwardPass& pass, const ForwardOperation& product) const;

 private:
  void split(const Passes& passes);
  void look_at(ForwardPass& pass, std::size_t index) const;
  void end_pass(std::vector<std::uint32_t>& forward, std::vector<std::uint32_t>& backward);

  const Trace& trace_;
  const BlockLives& lives_;
  const std::vector<NamedOperation>& names_;
  BlockLives by_call_;  ///< stacks are calls
  std::vector<NodeSpan> nodes_;
  std::vector<std::uint64_t> allocations_;  ///< events
  std::vector<Bytes> parameters_;           ///< sizes, upwards, each once
  std::vector<ForwardPass> passes_;
};

/// Results of operations before number `index` that are alive when it begins, the latest first.
/// At most twelve.
std::vector<std::uint32_t> recent_results(const ForwardPass& pass, std::size_t index,
                                          const BlockLives& lives);

/// What is known of a program where weights are looked for.
struct KnownProgram {
  const Trace& trace;
  const BlockLives& lives;
  const std::vector<NamedOperation>& names;  ///< by stack
  const std::vector<NodeSpan>& nodes;
  const std::vector<Bytes>& parameters;  ///< sizes, upwards
};

/// Finds for the operations of a pass which weight they multiply with, and what of the backward
/// pass is theirs: gradients of parameters come in the reverse order of the operations. Without
/// any, a weight is found by its size, where one number of rows fits most operations.
/// O(operations · gradients).
void find_weights(ForwardPass& pass, const KnownProgram& program);

/// What stacks leave open of a program under autocast.
struct AutocastGuess {
  enum class Unnamed {
    promote,  ///< operations that no frame names return the widest of the operands that are known
    single,   ///< they return fp32: another operand, such as a parameter, is
    half,     ///< they return half precision where an operand is
  };
  Unnamed unnamed = Unnamed::promote;
  bool halves_mixed = false;   ///< a gradient is in half precision where some value of its size is
  bool keeps_inputs = false;   ///< what products take in fp32 lives on beside its copy
  bool no_workspaces = false;  ///< convolutions need none; else as many bytes as in fp32
};

/// What forward passes ask for under autocast.
struct CastTypes {
  std::vector<bool> half;                             ///< by block: in half precision
  std::map<std::uint32_t, std::size_t> operation_of;  ///< by block: its place in its pass
  /// By pass and operation: what it takes, or the value before it.
  std::vector<std::vector<std::optional<std::uint32_t>>> inputs;
};

/// All outlive the call. O(operations · frames).
CastTypes cast_types(const Recording& recording, const Trace& trace, const BlockLives& lives,
                     const ForwardPasses& forwards, const AutocastGuess& guess);

}  // namespace memreplay
