#include "analysis/suggest/own_functions.hpp"

#include <algorithm>
#include <string_view>

#include "analysis/recorded/places.hpp"
#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kLinesOfAHeader = 3;  ///< "class", "def" and a body

bool is_layer_name(std::string_view name) { return name != "__init__" && !name.starts_with('<'); }

}  // namespace

OwnFunctions::OwnFunctions(const Recording& recording) : recording_(recording) {
  for (const Frame& frame : recording.frames) {
    is_own_.push_back(frame.line != kNoLine && !is_noise(recording, frame));
    is_call_.push_back(recording.texts[frame.file].ends_with("torch/nn/modules/module.py"));
    is_optimizer_.push_back(is_of_optimizer(recording.texts[frame.file]));
  }
}

void OwnFunctions::add(const std::vector<std::uint32_t>& stack) {
  const bool optimizes =
      std::ranges::any_of(stack, [&](std::uint32_t frame) { return is_optimizer_[frame]; });
  const Frame* caller = nullptr;
  bool directly = true;
  for (auto number = stack.rbegin(); number != stack.rend(); ++number) {
    if (!is_own_[*number]) {
      directly &= is_call_[*number];
      continue;
    }
    const Frame& frame = recording_.frames[*number];
    Line& line = lines_[{frame.file, frame.name}][frame.line];
    if (caller != nullptr) {
      line.calls.insert({caller->file, caller->line});
      line.called_directly &= directly;
    }
    directly = true;
    line.runs_optimizer |= optimizes;
    caller = &frame;
  }
}

std::vector<OwnFunction> OwnFunctions::functions() const {
  std::vector<OwnFunction> functions;
  for (const auto& [function, lines] : lines_) {
    if (!is_layer_name(recording_.texts[function.second])) continue;
    const std::set<FileLine>* before = nullptr;  // what calls the line before
    for (const auto& [number, line] : lines) {
      const bool another = before == nullptr || (*before != line.calls &&
                                                 number - functions.back().last >= kLinesOfAHeader);
      if (another)
        functions.push_back({.file = function.first,
                             .name = function.second,
                             .first = number,
                             .last = number,
                             .calls = {}});
      functions.back().last = number;
      functions.back().calls.insert(line.calls.begin(), line.calls.end());
      functions.back().called_directly &= line.called_directly;
      functions.back().runs_optimizer |= line.runs_optimizer;
      before = &line.calls;
    }
  }
  return functions;
}

}  // namespace memreplay
