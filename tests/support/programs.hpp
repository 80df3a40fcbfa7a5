#pragma once

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "support/recordings.hpp"

namespace memreplay {

/// A program that is told by the sizes of its blocks; of equal ones the oldest is freed first.
class ProgramWriter {
 public:
  /// What follows is asked for from this stack, innermost frame first; from none by a backward
  /// pass.
  ProgramWriter& at(const std::vector<std::string>& frames) {
    stack_ = frames.empty() ? 0 : writer_.stack(frames);
    return *this;
  }
  ProgramWriter& backward() { return at({}); }

  ProgramWriter& ask(Bytes size) {
    slots_[size].push_back(next_);
    writer_.alloc(next_++, size, stack_);
    return *this;
  }
  ProgramWriter& free(Bytes size) {
    writer_.free(take(size));
    return *this;
  }
  ProgramWriter& free_latest(Bytes size) {
    std::deque<Slot>& slots = slots_.at(size);
    writer_.free(slots.back());
    slots.pop_back();
    return *this;
  }
  /// Freed, but for another stream that still uses it.
  ProgramWriter& request_free(Bytes size) {
    writer_.add(Op::free_requested, slots_.at(size).front(), size);
    return *this;
  }
  ProgramWriter& complete_free(Bytes size) {
    writer_.add(Op::free_completed, take(size), size);
    return *this;
  }
  ProgramWriter& die(Bytes size) {
    writer_.add(Op::oom, kNoSlot, size, stack_);
    return *this;
  }
  ProgramWriter& annotate(const std::string& name, bool begins) {
    writer_.annotate(name, begins);
    return *this;
  }

  Recording recording() { return writer_.recording(); }

 private:
  Slot take(Bytes size) {
    std::deque<Slot>& slots = slots_.at(size);
    const Slot slot = slots.front();
    slots.pop_front();
    return slot;
  }

  RecordingWriter writer_;
  std::map<Bytes, std::deque<Slot>> slots_;
  Slot next_ = 0;
  std::uint32_t stack_ = 0;
};

/// The events of a trace by the sizes of their blocks: "+8 -8"; "?" requests a free, "!" completes
/// it, "x" is refused.
inline std::string told(const Trace& trace) {
  std::string told;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    char sign = '.';
    if (trace.ops[event] == Op::allocate) sign = '+';
    if (trace.ops[event] == Op::free) sign = '-';
    if (trace.ops[event] == Op::free_requested) sign = '?';
    if (trace.ops[event] == Op::free_completed) sign = '!';
    if (trace.ops[event] == Op::oom) sign = 'x';
    told += fmt::format("{}{}{}", told.empty() ? "" : " ", sign, trace.sizes[event]);
  }
  return told;
}

/// The events at which a trace asks for memory.
inline std::vector<std::uint64_t> allocations_of(const Trace& trace) {
  std::vector<std::uint64_t> events;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) events.push_back(event);
  }
  return events;
}

/// One block from before the first event.
inline void start_with(Trace& trace, Slot slot, Bytes size) {
  const Bytes from = trace.start.segments.empty() ? Bytes{1} << 40
                                                  : trace.start.segments.back().address + 2 * kMiB;
  BlockInfo block{.address = from,
                  .size = 2 * kMiB,
                  .requested = size,
                  .state = BlockState::allocated,
                  .slot = slot};
  trace.start.segments.push_back({.address = from, .size = 2 * kMiB, .blocks = {block}});
  trace.slot_count = std::max(trace.slot_count, slot + 1);
  trace.coverage.starts_empty = false;
}

/// The recording with C++ frames: every request has others.
inline Recording with_native_frames(Recording recording) {
  Trace& trace = recording.traces.front();
  const auto file = static_cast<std::uint32_t>(recording.texts.size());
  recording.texts.emplace_back("??");
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] != Op::allocate) continue;
    const auto name = static_cast<std::uint32_t>(recording.texts.size());
    recording.texts.push_back(fmt::format("at::native::operation_{}(at::Tensor const&)", event));
    const auto frame = static_cast<std::uint32_t>(recording.frames.size());
    recording.frames.push_back({name, file, 0});
    std::vector<std::uint32_t> stack(1 + event % 2, frame);
    const std::vector<std::uint32_t>& python = recording.stacks[trace.stacks[event]];
    stack.insert(stack.end(), python.begin(), python.end());
    trace.stacks[event] = static_cast<std::uint32_t>(recording.stacks.size());
    recording.stacks.push_back(std::move(stack));
  }
  return recording;
}

/// The line of a layer, run by its step.
inline std::vector<std::string> layer_line(int line) {
  return {fmt::format("models.py:{} forward", line), "train.py:5 step"};
}

/// One step of two layers, of three lines each. Their last one's result is given to what follows,
/// the others are saved for the backward pass.
inline ProgramWriter two_layers() {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (const Bytes layer : {10, 20}) {
    program.at(layer_line(11)).ask(layer + 1);
    program.at(layer_line(12)).ask(layer + 2);
    program.at(layer_line(13)).ask(layer + 3);
  }
  program.at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(23);
  program.ask(41).free(22).free(40).ask(42).free(21).free(41).free(13);
  program.ask(43).free(12).free(42).ask(44).free(11).free(43).free(100);
  return program;
}

}  // namespace memreplay
