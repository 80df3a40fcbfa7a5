#include "analysis/edit/torch_operations.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace memreplay {
namespace {

using OperationNames = std::initializer_list<std::string_view>;

bool is_function(const Recording& recording, const Frame& frame, OperationNames names) {
  return recording.texts[frame.file].ends_with("torch/nn/functional.py") &&
         std::ranges::find(names, recording.texts[frame.name]) != names.end();
}

/// Whether a frame is in one of these files under torch/nn/modules.
bool is_module(const Recording& recording, const Frame& frame, OperationNames files) {
  constexpr std::string_view kModules = "torch/nn/modules/";
  const std::string_view path = recording.texts[frame.file];
  return std::ranges::any_of(files, [&](std::string_view file) {
    return path.ends_with(file) && path.substr(0, path.size() - file.size()).ends_with(kModules);
  });
}

/// Null where nothing is known of who asked.
const Frame* innermost(const Recording& recording, std::uint32_t stack) {
  const auto& numbers = recording.stacks[stack];
  return numbers.empty() ? nullptr : &recording.frames[numbers.front()];
}

}  // namespace

bool needs_no_input(const Recording& recording, std::uint32_t stack) {
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t number) {
    return is_function(recording, recording.frames[number],
                       {"interpolate", "upsample", "upsample_nearest", "upsample_bilinear",
                        "dropout", "dropout1d", "dropout2d", "dropout3d", "pad"});
  });
}

bool needs_no_result(const Recording& recording, std::uint32_t stack) {
  const Frame* const frame = innermost(recording, stack);
  if (frame == nullptr) return false;
  return is_function(recording, *frame,
                     {"embedding", "layer_norm", "group_norm", "batch_norm", "rms_norm"}) ||
         is_module(recording, *frame,
                   {"linear.py", "conv.py", "sparse.py", "normalization.py", "batchnorm.py"});
}

bool saves_weights(const Recording& recording, std::uint32_t stack) {
  const Frame* const frame = innermost(recording, stack);
  return frame != nullptr && is_module(recording, *frame, {"linear.py", "conv.py"});
}

}  // namespace memreplay
