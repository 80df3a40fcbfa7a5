#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "extensions/what_if/vary/calls.hpp"
#include "extensions/what_if/vary/varied_program.hpp"

namespace memreplay {

/// Two recordings, call by call.
struct Lining {
  std::size_t other = 0;                ///< the second recording
  std::vector<std::uint32_t> block_of;  ///< by block of the first; Calls::kNoBlock: none
  std::optional<std::pair<std::uint32_t, std::uint32_t>> parts_at = {};  ///< calls
};

/// The recordings side by side.
class Study {
 public:
  /// `varied` outlives this. O(events).
  explicit Study(std::span<const Varied> varied);

  std::size_t size() const { return calls_.size(); }
  std::int64_t value(std::size_t i) const { return varied_[i].value; }
  const Subject& subject(std::size_t i) const { return *varied_[i].subject; }
  const Calls& calls(std::size_t i) const { return calls_[i]; }
  const BlockLives& lives(std::size_t i) const { return lives_[i]; }
  /// The event of a call; after the last one, the end of the trace.
  std::uint64_t event_of(std::size_t i, std::uint32_t call) const;

  /// All others beside this recording. See `align`.
  std::vector<Lining> line_up_with(std::size_t structure) const;
  /// Throws UsageError where that shows recordings of two programs.
  void refuse_strangers(std::size_t structure, const Lining& lining) const;

 private:
  /// The requests of one recording beside another one's.
  struct Side {
    std::size_t of = 0;
    const std::vector<bool>& has_like;  ///< by block
  };

  enum class Likeness { of_lines, of_requests };
  void refuse_unlike(std::size_t structure, const Lining& lining, Likeness kind) const;
  void refuse_parts_of_a_program(std::size_t structure, const Lining& lining) const;
  void refuse_if_more(const Side& side, const Side& beside,
                      const std::multiset<Bytes>& casts) const;
  void write_down_calls(bool by_line);
  bool have_askers_in_common() const;

  std::span<const Varied> varied_;
  std::vector<BlockLives> lives_;
  std::vector<Calls> calls_;
};

}  // namespace memreplay
