#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// The code places of a heaptrack file, as its lines name them one after the other. All numbers in
/// it count from 1, and 0 is none; std::out_of_range for one of what has not been named.
class HeaptrackPlaces {
 public:
  /// The texts, frames and stacks go there.
  explicit HeaptrackPlaces(Recording& recording) : recording_(recording) {}

  void add_text(std::string_view text);
  /// An instruction of a module (a text); then function, file and line of its frames, the innermost
  /// first.
  void add_instruction(std::uint64_t address, std::uint64_t module,
                       std::span<const std::uint64_t> frames);
  /// A call made at an instruction, reached by another call.
  void add_call(std::uint64_t instruction, std::uint64_t caller);
  /// A call in a raw file, which names no instructions.
  void add_raw_call(std::uint64_t address, std::uint64_t caller);

  /// The number of the stack in the recording that a call stands on.
  std::uint32_t stack_of(std::uint64_t call);

 private:
  struct Call {
    std::uint32_t instruction = 0;  ///< position
    std::uint32_t caller = 0;       ///< number
    std::uint32_t stack = 0;        ///< 0: not asked for yet
  };

  std::uint32_t text(std::uint64_t number) const;
  std::uint32_t text_of_address(std::uint64_t address);
  std::uint32_t number_of(const Frame& frame);
  void add(std::uint32_t instruction, std::uint64_t caller);

  Recording& recording_;
  std::vector<std::uint32_t> texts_;  ///< in the recording
  std::vector<std::vector<std::uint32_t>> instructions_;
  std::unordered_map<std::uint64_t, std::uint32_t> raw_instructions_;  ///< by address
  std::vector<Call> calls_;
  std::map<Frame, std::uint32_t> frames_;
};

}  // namespace memreplay
