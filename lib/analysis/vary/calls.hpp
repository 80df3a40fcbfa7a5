#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/edit/lives.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Numbers who asks for memory alike in several recordings: a stack by the Python frames of it, a
/// stream and a pool by their order. The program's own frames count by file name, function and
/// line, wherever its folder is; those of packages and of the interpreter by function. Without
/// lines what an edit of the program moved is the same.
class CommonAskers {
 public:
  explicit CommonAskers(bool by_line) : by_line_(by_line) {}
  std::uint32_t number(const Recording& recording, std::uint32_t stack, Lane lane);

 private:
  using Line = std::tuple<std::string, std::string, std::uint32_t>;  ///< file, function, line
  bool by_line_;
  std::map<std::tuple<std::vector<Line>, StreamIndex, PoolIndex>, std::uint32_t> numbers_;
};

/// A block that a recorded program asked for; one that is asked for again and again, and freed at
/// once each time, is one block.
struct CallBlock {
  Bytes size = 0;
  std::uint32_t asker = 0;  ///< one of CommonAskers
  bool python = false;      ///< its stack has a line of Python: autograd's own threads have none
  std::uint32_t call = kBefore;  ///< that asks for it

  static constexpr std::uint32_t kBefore = UINT32_MAX;  ///< it was there before the trace
};

struct AlignedCall {
  bool frees = false;
  std::uint32_t block = 0;
};

/// What a program asked of its allocator, without what followed from it.
struct Calls {
  std::vector<AlignedCall> calls;
  std::vector<CallBlock> blocks;
  std::vector<std::uint64_t> event_of;       ///< by call
  std::vector<std::uint32_t> block_of_life;  ///< by block of the lives

  static constexpr std::uint32_t kNoBlock = UINT32_MAX;
};

/// `lives` are the trace's. O(events), and the stacks of the recording once.
Calls calls_of(const Recording& recording, const Trace& trace, const BlockLives& lives,
               CommonAskers& askers);

}  // namespace memreplay
