#include "analysis/edit/python_stacks.hpp"

#include <algorithm>
#include <map>

#include "trace/frame_kind.hpp"

namespace memreplay {

std::optional<PythonStacks> python_stacks(const Recording& recording) {
  std::vector<bool> python;  // by frame
  for (const Frame& frame : recording.frames) {
    python.push_back(
        is_python(frame_kind(recording.texts[frame.name], recording.texts[frame.file])));
  }
  if (std::ranges::find(python, false) == python.end()) return std::nullopt;
  PythonStacks made;
  made.recording.texts = recording.texts;
  made.recording.frames = recording.frames;
  made.recording.stacks = recording.stacks;
  std::map<std::vector<std::uint32_t>, std::uint32_t> first;
  for (std::vector<std::uint32_t>& stack : made.recording.stacks) {
    std::erase_if(stack, [&](std::uint32_t frame) { return !python[frame]; });
    const auto number = static_cast<std::uint32_t>(made.first.size());
    made.first.push_back(first.try_emplace(stack, number).first->second);
  }
  return made;
}

}  // namespace memreplay
