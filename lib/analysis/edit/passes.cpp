#include "analysis/edit/passes.hpp"

#include <algorithm>
#include <string_view>

#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

bool is_python_frame(const Recording& recording, const Frame& frame) {
  return is_python(frame_kind(recording.texts[frame.name], recording.texts[frame.file]));
}

bool runs_autograd(const Recording& recording, const Frame& frame) {
  return recording.texts[frame.name] == "backward" &&
         recording.texts[frame.file].ends_with("torch/autograd/__init__.py");
}

}  // namespace

Passes::Passes(const Recording& recording, const Trace& trace) {
  for (const std::vector<std::uint32_t>& stack : recording.stacks) {
    const auto has = [&](auto what) {
      return std::ranges::any_of(
          stack, [&](std::uint32_t frame) { return what(recording, recording.frames[frame]); });
    };
    backward_.push_back(!has(is_python_frame) || has(runs_autograd));
  }
  if (backward_.empty()) backward_.push_back(true);
  std::uint32_t backward = 0;
  std::uint32_t others = 0;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    backward_before_.push_back(backward);
    others_before_.push_back(others);
    if (trace.ops[event] != Op::allocate) continue;
    ++(is_backward(stack_at(trace, event)) ? backward : others);
  }
  backward_before_.push_back(backward);
  others_before_.push_back(others);
  known_ = others > 0;
}

bool Passes::is_saved(const BlockLife& life) const {
  if (!known_ || life.existed_before() || life.freed == BlockLife::kNever) return false;
  return !is_backward(life.stack) && backward_before(life.freed) > backward_before(life.born);
}

}  // namespace memreplay
