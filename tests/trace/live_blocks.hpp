#pragma once

#include <string>

#include "trace/trace.hpp"

namespace memreplay {

/// The blocks of the state before a trace as words, free ones in brackets, segments after '|', with
/// their frames, innermost first: "100 g@m.c:2<main 28 | (50) 12".
inline std::string live_blocks(const Recording& recording, const Trace& trace) {
  std::string drawn;
  for (const SegmentInfo& segment : trace.start.segments) {
    if (!drawn.empty()) drawn += " |";
    for (const BlockInfo& block : segment.blocks) {
      const std::string size = std::to_string(block.size);
      drawn += (drawn.empty() ? "" : " ") + (block.slot == kNoSlot ? '(' + size + ')' : size);
      std::string before = " ";
      for (const std::uint32_t number : recording.stacks.at(block.stack)) {
        const Frame& frame = recording.frames.at(number);
        drawn += std::exchange(before, "<") + recording.texts.at(frame.name);
        if (frame.file != 0) drawn += '@' + recording.texts.at(frame.file);
        if (frame.line != kNoLine) drawn += ':' + std::to_string(frame.line);
      }
    }
  }
  return drawn;
}

inline std::string live_blocks(const Recording& recording) {
  return live_blocks(recording, recording.traces.at(0));
}

}  // namespace memreplay
