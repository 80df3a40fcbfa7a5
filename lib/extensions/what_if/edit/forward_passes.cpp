#include "extensions/what_if/edit/forward_passes.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

using CastNames = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, CastNames names) {
  return std::ranges::find(names, name) != names.end();
}

/// "mm" of "at::_ops::mm::call(…)"; empty where the function is none.
std::string_view operator_name(std::string_view function) {
  constexpr std::string_view kOperators = "at::_ops::";
  if (!function.starts_with(kOperators)) return {};
  function.remove_prefix(kOperators.size());
  return function.substr(0, function.find("::"));
}

CastRule rule_of_operator(std::string_view name) {
  if (is_one_of(name, {"mm",
                       "bmm",
                       "addmm",
                       "addbmm",
                       "baddbmm",
                       "matmul",
                       "linear",
                       "einsum",
                       "mv",
                       "addmv",
                       "addr",
                       "convolution",
                       "_convolution",
                       "conv1d",
                       "conv2d",
                       "conv3d",
                       "conv_transpose1d",
                       "conv_transpose2d_input",
                       "conv_transpose3d_input",
                       "scaled_dot_product_attention",
                       "_scaled_dot_product_flash_attention",
                       "chain_matmul",
                       "linalg_multi_dot",
                       "linalg_vecdot",
                       "prelu"})) {
    return CastRule::half;
  }
  if (is_one_of(name, {"exp",
                       "expm1",
                       "log",
                       "log2",
                       "log10",
                       "log1p",
                       "pow_Tensor_Scalar",
                       "pow_Tensor_Tensor",
                       "pow_Scalar",
                       "rsqrt",
                       "reciprocal",
                       "softplus",
                       "layer_norm",
                       "native_layer_norm",
                       "rms_norm",
                       "group_norm",
                       "nll_loss",
                       "nll_loss_nd",
                       "l1_loss",
                       "smooth_l1_loss",
                       "huber_loss",
                       "mse_loss",
                       "kl_div",
                       "binary_cross_entropy_with_logits",
                       "cumsum",
                       "cumprod",
                       "sum",
                       "sum_dim_IntList",
                       "prod",
                       "softmax_int",
                       "log_softmax_int",
                       "logsumexp",
                       "linalg_vector_norm",
                       "norm_ScalarOpt_dim",
                       "cosine_similarity",
                       "acos",
                       "asin",
                       "cosh",
                       "sinh",
                       "tan",
                       "dist",
                       "cdist",
                       "upsample_nearest2d",
                       "upsample_bilinear2d",
                       "upsample_bicubic2d"})) {
    return CastRule::single;
  }
  if (name == "cross_entropy_loss") return CastRule::loss;
  if (is_one_of(name, {"relu", "gelu", "silu", "sigmoid", "tanh", "leaky_relu", "elu", "dropout",
                       "native_dropout", "clone", "contiguous", "reshape", "batch_norm",
                       "native_batch_norm", "cudnn_batch_norm", "max_pool2d", "avg_pool2d",
                       "masked_fill_Scalar"})) {
    return CastRule::follows;
  }
  if (is_one_of(name, {"empty_memory_format", "zeros", "ones", "full", "randn", "rand", "arange",
                       "randint_low", "arange_start", "arange_start_step", "tril", "triu",
                       "embedding", "to_dtype", "to_device", "to_dtype_layout"})) {
    return CastRule::none;
  }
  return CastRule::promotes;
}

CastRule rule_of_function(std::string_view name) {
  if (is_one_of(name, {"linear", "multi_head_attention_forward", "_in_projection_packed",
                       "_in_projection", "scaled_dot_product_attention", "bilinear"})) {
    return CastRule::half;
  }
  if (is_one_of(name, {"layer_norm", "group_norm", "rms_norm", "softmax", "log_softmax", "mse_loss",
                       "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "kl_div",
                       "binary_cross_entropy_with_logits", "cosine_similarity", "normalize",
                       "cosine_embedding_loss", "interpolate", "softplus", "gumbel_softmax"})) {
    return CastRule::single;
  }
  if (name == "cross_entropy") return CastRule::loss;
  if (name == "embedding") return CastRule::none;
  return CastRule::follows;
}

/// Names an operation by its C++ frames: `operators`, at least one, from the outermost inwards.
void name_by_operators(const std::vector<std::string_view>& operators, NamedOperation& named) {
  const auto rules = [&](CastRule rule) {
    return std::ranges::find(operators, rule, rule_of_operator) != operators.end();
  };
  named.by_operator = true;
  named.rule = rule_of_operator(operators.front());
  if (named.rule == CastRule::promotes || named.rule == CastRule::follows) {
    for (const CastRule rule : {CastRule::loss, CastRule::half, CastRule::single}) {
      if (!rules(rule)) continue;
      named.rule = rule;
      break;
    }
  }
  named.convolves = std::ranges::any_of(operators, [](std::string_view name) {
    return name.starts_with("conv") || name == "_convolution";
  });
  named.has_parameters = std::ranges::any_of(operators, [](std::string_view name) {
    return name == "embedding" || name.ends_with("_norm");
  });
  named.in_module |= named.convolves || operators.front() == "linear";
}

/// What the innermost Python frame says.
void name_by_python(std::string_view file, std::string_view function, NamedOperation& named) {
  if (file.ends_with("torch/nn/functional.py")) {
    named.rule = rule_of_function(function);
    named.by_function = true;
    named.is_softmax = function == "softmax";
    named.has_parameters = function == "embedding" || function.ends_with("_norm");
  } else if (file.ends_with("torch/nn/modules/linear.py") ||
             file.ends_with("torch/nn/modules/conv.py")) {
    named.rule = CastRule::half;
  } else if (file.ends_with("torch/nn/modules/normalization.py")) {
    named.rule = CastRule::single;
    named.has_parameters = true;
  } else if (file.ends_with("torch/functional.py") && function == "einsum") {
    named.rule = CastRule::half;
  }
}

// The last request, if the program went on after a backward pass: what is freed later goes with the
// program. Else with the pass.
std::uint64_t end_of_program(const std::vector<std::uint64_t>& allocations, const Passes& passes) {
  if (allocations.empty()) return 0;
  const auto first = std::ranges::find_if(
      allocations, [&](std::uint64_t event) { return passes.backward_before(event) > 0; });
  const bool goes_on = first != allocations.end() &&
                       passes.others_before(allocations.back() + 1) > passes.others_before(*first);
  return goes_on ? allocations.back() : BlockLife::kNever - 1;
}

}  // namespace

std::vector<NamedOperation> named_operations(const Recording& recording) {
  std::vector<NamedOperation> all;
  const std::vector<FrameKind> kinds = frame_kinds(recording);
  std::map<std::vector<std::uint32_t>, std::uint32_t> calls;
  for (const std::vector<std::uint32_t>& stack : recording.stacks) {
    NamedOperation named;
    std::vector<std::string_view> operators;
    std::size_t outermost = 0;  // one past the outermost operator
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const Frame& frame = recording.frames[stack[i]];
      const std::string_view function = recording.texts[frame.name];
      const std::string_view file = recording.texts[frame.file];
      named.casts |= function.starts_with("at::autocast::");
      if (const std::string_view name = operator_name(function); !name.empty()) {
        outermost = i + 1;
        if (operators.empty() || operators.back() != name) operators.push_back(name);
      }
      if (!is_python(kinds[stack[i]])) continue;
      named.optimizes |= is_of_optimizer(file);
      named.python.push_back(stack[i]);
    }
    const auto number = static_cast<std::uint32_t>(calls.size());
    const auto from = stack.begin() + static_cast<std::ptrdiff_t>(outermost);
    named.call = calls.try_emplace({from, stack.end()}, number).first->second;
    if (!named.python.empty()) {
      const Frame& frame = recording.frames[named.python.front()];
      const std::string_view file = recording.texts[frame.file];
      named.convolves = file.ends_with("torch/nn/modules/conv.py");
      named.in_module = named.convolves || file.ends_with("torch/nn/modules/linear.py");
      if (operators.empty()) name_by_python(file, recording.texts[frame.name], named);
    }
    std::ranges::reverse(operators);
    if (!operators.empty()) name_by_operators(operators, named);
    all.push_back(std::move(named));
  }
  if (all.empty()) all.emplace_back();
  return all;
}

namespace {

constexpr Bytes kLeastResult = 64;
constexpr std::size_t kRecent = 12;

/// Operation `from`, or the last before it, whose result is alive at the event. What is alive then
/// was alive at every event since it was made: each operation leads on to the one before it.
std::size_t alive_from(const ForwardPass& pass, std::size_t from, std::uint64_t event,
                       const BlockLives& lives) {
  while (from != ForwardOperation::kNoOperation) {
    const ForwardOperation& operation = pass.operations[from];
    const BlockLife& result = lives.blocks[operation.result];
    if (result.alive_at(event) && result.size >= kLeastResult) break;
    from = operation.alive_before;
  }
  return from;
}
constexpr Bytes kLeastTensor = 1024;  ///< smaller ones are statistics and counters
constexpr Bytes kSeed = 16;           ///< random numbers of attention, at most
constexpr Bytes kHeadSize = 200;      ///< elements for which attention saves one sum, at most

/// The largest block that outlives the operation, the latest of equals; the first where none does.
/// Indices of 8 bytes, as pooling has, are twice as large as their values.
std::uint32_t result_of(const ForwardOperation& operation, const BlockLives& lives) {
  std::uint32_t result = BlockLives::kNone;
  for (const std::uint32_t block : operation.blocks) {
    if (!lives.blocks[block].alive_at(operation.end)) continue;
    const Bytes size = lives.blocks[block].size;
    const Bytes least = result == BlockLives::kNone ? 0 : lives.blocks[result].size;
    const bool indices = operation.rule == CastRule::follows && least > 0 && size == 2 * least;
    if (size >= least && !indices) result = block;
  }
  return result == BlockLives::kNone ? operation.blocks.front() : result;
}

}  // namespace

std::vector<NodeSpan> node_spans(const Trace& trace, const BlockLives& lives,
                                 const Passes& passes) {
  std::vector<NodeSpan> nodes;
  enum { none, computes, ended } state = none;
  const auto end = [&](std::uint64_t event) {
    if (state == computes) nodes.back().computed = event;
  };
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) {
      const bool backward = passes.is_backward(stack_at(trace, event));
      if (!backward) end(event);
      if (backward && state != computes)
        nodes.push_back({.begin = event, .computed = trace.size()});
      state = backward ? computes : none;
      continue;
    }
    const std::uint32_t block = lives.block_of[event];
    if (state != computes || block == BlockLives::kNone) continue;
    const BlockLife& life = lives.blocks[block];
    const bool own = !life.existed_before() && life.born >= nodes.back().begin;
    if (life.freed != event || own) continue;
    end(event);
    state = ended;
  }
  return nodes;
}

std::size_t node_at(const std::vector<NodeSpan>& nodes, std::uint64_t event) {
  const auto next = std::ranges::upper_bound(nodes, event, {}, &NodeSpan::begin);
  return static_cast<std::size_t>(next - nodes.begin()) - 1;
}

ForwardPasses::ForwardPasses(const Trace& trace, const BlockLives& lives, const Passes& passes,
                             const std::vector<NamedOperation>& names)
    : trace_(trace),
      lives_(lives),
      names_(names),
      by_call_(lives),
      nodes_(node_spans(trace, lives, passes)) {
  for (BlockLife& life : by_call_.blocks) life.stack = names[life.stack].call;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) allocations_.push_back(event);
  }
  split(passes);
  std::ranges::sort(parameters_);
  parameters_.erase(std::unique(parameters_.begin(), parameters_.end()), parameters_.end());
  const KnownProgram program{trace_, lives_, names_, nodes_, parameters_};
  for (ForwardPass& pass : passes_) find_weights(pass, program);
}

// Parameters were there before the recording, or are asked for before the first operation that
// would be one in half precision; they outlive the last request.
void ForwardPasses::split(const Passes& passes) {
  std::vector<std::uint32_t> forward;
  std::vector<std::uint32_t> backward;
  bool begun = false;
  const std::uint64_t last = end_of_program(allocations_, passes);
  for (std::uint32_t block = 0; block < lives_.blocks.size(); ++block) {
    const BlockLife& life = lives_.blocks[block];
    const NamedOperation& named = names_[life.stack];
    const bool stays = life.freed > last;
    if (!life.existed_before() && named.optimizes) continue;
    begun |= !life.existed_before() && named.rule == CastRule::half;
    if (life.existed_before() || (stays && !begun)) {
      parameters_.push_back(life.size);
    } else if (passes.is_backward(life.stack)) {
      backward.push_back(block);
    } else {
      if (!backward.empty()) end_pass(forward, backward);
      forward.push_back(block);
    }
  }
  end_pass(forward, backward);
}

void ForwardPasses::end_pass(std::vector<std::uint32_t>& forward,
                             std::vector<std::uint32_t>& backward) {
  std::vector<std::uint64_t> events;
  for (const std::uint32_t block : forward) events.push_back(lives_.blocks[block].born);
  const std::vector<std::uint32_t> numbers = operations_of(trace_, by_call_, events);
  ForwardPass pass;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      pass.operations.push_back(
          {.stack = lives_.blocks[forward[i]].stack, .begin = lives_.blocks[forward[i]].born});
    }
    pass.operations.back().blocks.push_back(forward[i]);
  }
  pass.backward = std::move(backward);
  for (std::size_t i = 0; i < pass.operations.size(); ++i) {
    ForwardOperation& operation = pass.operations[i];
    operation.end = i + 1 < pass.operations.size() ? pass.operations[i + 1].begin
                                                   : pass.end(lives_, trace_.size());
    operation.rule = named(operation).rule;
    operation.result = result_of(operation, lives_);
    if (i > 0) operation.alive_before = alive_from(pass, i - 1, operation.begin, lives_);
    const NamedOperation& name = named(operation);
    operation.weighs = name.is_softmax ||
                       (name.rule == CastRule::follows && i > 0 && pass.operations[i - 1].weighs);
    if (i > 0) look_at(pass, i);
  }
  if (!pass.operations.empty()) passes_.push_back(std::move(pass));
  forward.clear();
  backward.clear();
}

// What no frame names, its blocks may tell.
void ForwardPasses::look_at(ForwardPass& pass, std::size_t index) const {
  ForwardOperation& operation = pass.operations[index];
  const ForwardOperation& before = pass.operations[index - 1];
  const NamedOperation& name = named(operation);
  const auto size = [&](std::uint32_t block) { return lives_.blocks[block].size; };
  const Bytes result = size(operation.result);
  if (name.by_operator || result < kLeastTensor) return;
  if (name.rule == CastRule::promotes) {
    const auto seeds = std::ranges::count_if(operation.blocks, [&](std::uint32_t block) {
      return size(block) <= kSeed && lives_.blocks[block].alive_at(operation.end);
    });
    const std::vector<std::uint32_t> recent = recent_results(pass, index, lives_);
    // Attention that is written out multiplies the result of a softmax with something smaller.
    const bool weighs =
        before.weighs && operation.blocks.size() == 1 && !recent.empty() &&
        size(recent.front()) > result &&
        std::ranges::any_of(recent, [&](std::uint32_t block) { return size(block) == result; });
    if (seeds == 2 || weighs) operation.rule = CastRule::half;
    operation.attends = seeds == 2;
  } else if (name.rule == CastRule::half && name.by_function) {
    operation.attends = std::ranges::any_of(operation.blocks, [&](std::uint32_t block) {
      return block > operation.result && size(block) * kHeadSize >= result &&
             lives_.blocks[block].alive_at(operation.end);
    });
    // Functions around attention copy what they have, in one request.
    const bool copies = operation.blocks.size() == 1 && size(before.result) == result;
    if (copies) operation.rule = CastRule::follows;
    operation.copies_attention = copies && before.attends;
  }
}

bool ForwardPasses::is_workspace(std::uint32_t block) const {
  const BlockLife& life = lives_.blocks[block];
  const auto next = std::ranges::upper_bound(allocations_, life.born);
  return life.freed < (next == allocations_.end() ? trace_.size() : *next);
}

bool ForwardPasses::saves_weight(const ForwardPass& pass, const ForwardOperation& product) const {
  const bool saved = !product.node.is_known() || named(product).convolves ||
                     product.node.input_gradient != BlockLives::kNone;
  if (saved) return true;
  const auto first = std::ranges::find(pass.operations, CastRule::half, &ForwardOperation::rule);
  return product.input != BlockLives::kNone && lives_.blocks[product.input].born >= first->begin;
}

std::vector<std::uint32_t> recent_results(const ForwardPass& pass, std::size_t index,
                                          const BlockLives& lives) {
  std::vector<std::uint32_t> results;
  const std::vector<ForwardOperation>& operations = pass.operations;
  const std::uint64_t begin = operations[index].begin;
  std::size_t i = operations[index].alive_before;
  while (i != ForwardOperation::kNoOperation && results.size() < kRecent) {
    results.push_back(operations[i].result);
    i = alive_from(pass, operations[i].alive_before, begin, lives);
  }
  return results;
}

}  // namespace memreplay
