#include "analysis/edit/cast_rules.hpp"

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

}  // namespace

std::vector<NamedOperation> named_operations(const Recording& recording) {
  std::vector<NamedOperation> all;
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
      if (!is_python(frame_kind(function, file))) continue;
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

}  // namespace memreplay
