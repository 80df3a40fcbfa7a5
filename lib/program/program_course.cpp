#include "program/program_course.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

bool runs_autograd(const Recording& recording, const Frame& frame) {
  return recording.texts[frame.name] == "backward" &&
         recording.texts[frame.file].ends_with("torch/autograd/__init__.py");
}

}  // namespace

std::optional<PythonStacks> python_stacks(const Recording& recording) {
  std::vector<bool> python;  // by frame
  for (const FrameKind kind : frame_kinds(recording)) python.push_back(is_python(kind));
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

ProgramCourse::ProgramCourse(const Recording& recording, const Trace& trace)
    : recording_(recording),
      trace_(trace),
      python_(python_stacks(recording)),
      passes_(recording, trace),
      lives_(lives_of(trace)) {
  if (python_) {
    for (BlockLife& life : lives_.blocks) life.stack = python_->first[life.stack];
  }
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) allocations_.push_back(event);
    ran_out_ |= trace.ops[event] == Op::oom;
  }
  operations_ = operations_of(trace, lives_, allocations_);
}

std::size_t ProgramCourse::allocation_from(std::uint64_t event) const {
  const auto next = std::ranges::lower_bound(allocations_, event);
  return static_cast<std::size_t>(next - allocations_.begin());
}

std::uint32_t ProgramCourse::value_at(std::size_t from, std::size_t to, std::size_t at) const {
  const std::uint64_t event = event_of(at);
  std::uint32_t value = BlockLives::kNone;
  std::uint32_t operation = 0;
  for (std::size_t i = to; i-- > from;) {
    const BlockLife& candidate = life(block_of(i));
    if (!candidate.alive_at(event)) continue;
    if (value != BlockLives::kNone && operations_[i] != operation) break;
    if (value == BlockLives::kNone || candidate.size > life(value).size) value = block_of(i);
    operation = operations_[i];
  }
  return value == BlockLives::kNone ? value : added_to(from, to, event, value, operation);
}

std::uint32_t ProgramCourse::added_to(std::size_t from, std::size_t to, std::uint64_t event,
                                      std::uint32_t value, std::uint32_t operation) const {
  constexpr std::size_t kNear = 256;
  std::size_t end = to;
  while (operations_[end - 1] != operation) --end;
  std::size_t begin = end;
  Bytes gone = 0;
  for (; begin > from && operations_[begin - 1] == operation; --begin) {
    const BlockLife& result = life(block_of(begin - 1));
    const bool is_workspace = result.freed < event_of(end - 1);
    if (!is_workspace && !result.alive_at(event)) gone = std::max(gone, result.size);
  }
  if (gone <= life(value).size) return value;
  for (std::size_t i = begin; i-- > from && begin - i <= kNear;) {
    const BlockLife& other = life(block_of(i));
    const bool goes_first = other.freed != BlockLife::kNever && other.freed < life(value).freed;
    if (other.size == gone && other.alive_at(event) && goes_first) value = block_of(i);
  }
  return value;
}

Passes::Passes(const Recording& recording, const Trace& trace) {
  const std::vector<FrameKind> kinds = frame_kinds(recording);
  for (const std::vector<std::uint32_t>& stack : recording.stacks) {
    const bool has_python =
        std::ranges::any_of(stack, [&](std::uint32_t frame) { return is_python(kinds[frame]); });
    backward_.push_back(!has_python || std::ranges::any_of(stack, [&](std::uint32_t frame) {
      return runs_autograd(recording, recording.frames[frame]);
    }));
  }
  if (backward_.empty()) backward_.push_back(true);
  std::uint32_t backward = 0;
  std::uint32_t others = 0;
  bool in_backward = false;
  const auto note = [&] {
    backward_before_.push_back(backward);
    others_before_.push_back(others);
    in_backward_.push_back(in_backward);
  };
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    note();
    if (trace.ops[event] != Op::allocate) continue;
    in_backward = is_backward(stack_at(trace, event));
    ++(in_backward ? backward : others);
  }
  note();
  known_ = others > 0;
}

bool Passes::outlives_forward(const BlockLife& life) const {
  if (!known_ || life.existed_before() || life.freed == BlockLife::kNever) return false;
  return !is_backward(life.stack) && backward_before(life.freed) > backward_before(life.born);
}

bool Passes::is_saved(const BlockLife& life) const {
  return outlives_forward(life) && is_in_backward(life.freed);
}

}  // namespace memreplay
