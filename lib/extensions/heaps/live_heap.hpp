#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/text_numbers.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What a program holds at one moment, by who asked for it: a trace for each device that starts
/// with it and has no events. For formats that have sums of blocks, perhaps without addresses:
/// blocks lie one after the other then.
class LiveHeap {
 public:
  /// The texts, frames and stacks go to `recording`, whose texts begin with the empty one.
  explicit LiveHeap(Recording& recording) : recording_(recording), texts_(recording.texts) {}

  /// Its number. `place` is "main (a.c:3)", "0x10c: main (in /lib/libc.so)" or any other text, of
  /// which addresses at its beginning are left out.
  std::uint32_t frame(std::string_view place);
  std::uint32_t frame(std::string_view name, std::string_view file, std::uint64_t line);
  /// As many frames of a stack are kept, the innermost; fewer where all stacks have very many.
  static constexpr std::size_t kDeepest = 4096;
  /// The number of a stack of such frames, innermost first; of none 0.
  std::uint32_t stack(std::vector<std::uint32_t> frames);

  /// So many blocks, each with an equal share of the bytes, at the end of the device's last
  /// segment. Throws InputError where they come to 1 EiB or more.
  void add(int device, Bytes bytes, std::uint64_t blocks, std::uint32_t stack);
  /// Free memory behind them.
  void add_free(int device, Bytes bytes) { append(device, bytes, BlockState::free, 0); }
  /// What comes next is in another segment.
  void end_segment(int device) { is_open_[device] = false; }

  /// Puts the traces into the recording, at least one, of `device` where nothing is live.
  void finish(int device);

 private:
  void append(int device, Bytes bytes, BlockState state, std::uint32_t stack);

  Recording& recording_;
  TextNumbers texts_;
  std::map<Frame, std::uint32_t> frames_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> stacks_;
  std::map<int, MemoryState> states_;
  std::map<int, bool> is_open_;
  std::map<int, Slot> slots_;
  std::size_t kept_frames_ = 0;  ///< in all stacks
  std::uint64_t blocks_ = 0;
  std::uint64_t told_ = 0;  ///< blocks, whether told apart or not
};

}  // namespace memreplay
