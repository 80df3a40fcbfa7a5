#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "program/lives.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Numbers who asks for memory alike in several recordings: a stack by the Python frames of it, a
/// stream and a pool by their order. The program's own frames count by file name, function and
/// line, wherever its folder is; those of packages and of the interpreter by function. Without
/// lines what an edit of the program moved is the same.
class CommonAskers {
 public:
  explicit CommonAskers(bool by_line) : by_line_(by_line) {}
  std::uint32_t number(const Recording& recording, std::uint32_t stack, StreamPool lane);

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

/// Whether a call asks for a block that the next one frees.
inline bool freed_at_once(const Calls& calls, std::size_t call) {
  return call + 1 < calls.calls.size() && !calls.calls[call].frees && calls.calls[call + 1].frees &&
         calls.calls[call + 1].block == calls.calls[call].block;
}

/// `lives` are the trace's. O(events), and the stacks of the recording once.
Calls calls_of(const Recording& recording, const Trace& trace, const BlockLives& lives,
               CommonAskers& askers);

/// A call of a program as far as it tells which call of another run of it is the same one.
struct AlignItem {
  std::uint32_t key = 0;    ///< only items of one key pair
  std::uint32_t block = 0;  ///< number of its block in the order of the requests
  Bytes size = 0;
  bool anchors = false;  ///< one of few of its key: a request with a stack of its own
};

/// The values of the parameter that two runs had.
struct ParameterValues {
  std::int64_t first = 1;
  std::int64_t second = 1;
};

/// How well blocks of these sizes pair: 3 where they are equal or in the ratio of the values or of
/// their squares, 1 where they grow as the values do, -1 otherwise.
int pairing_score(Bytes first, Bytes second, const ParameterValues& values);

using AlignedPair = std::pair<std::uint32_t, std::uint32_t>;

/// The pairs with the highest total score, ascending in both, within the band: `second` may lie
/// `band` items away from where `first` lies in proportion. Time and memory O(items x band).
std::vector<AlignedPair> align_in_band(std::span<const AlignItem> first,
                                       std::span<const AlignItem> second,
                                       const ParameterValues& values, std::size_t band);

/// Sequences of one shape pair one to one. Else anchors of keys that both have as often are paired
/// in their order, and only what lies between them is searched, in a band. O(items log items), and
/// O(items x band) between anchors, where the band is narrowed to keep within 64 MiB.
std::vector<AlignedPair> align(std::span<const AlignItem> first, std::span<const AlignItem> second,
                               const ParameterValues& values);

}  // namespace memreplay
