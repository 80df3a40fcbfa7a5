#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/edit/lives.hpp"

namespace memreplay {

/// A place right before an event of a trace, or after its last one. At one place the lower order
/// comes first, then what was asked for first.
struct Spot {
  std::uint64_t before = 0;
  std::uint32_t order = 0;

  friend auto operator<=>(const Spot&, const Spot&) = default;
};

/// A trace that was written anew.
struct Rewritten {
  Trace trace;
  /// By event of the old trace, and after its last: the same event, or where it was left out the
  /// next one that is there.
  std::vector<std::uint64_t> now;
  std::vector<bool> kept;  ///< by event of the old trace
};

/// Changes to the blocks of a trace, all of which are made at once. What the recorded allocator did
/// (its addresses, what it asked of the driver, the state in which it ended) is left out.
class Rewrite {
 public:
  /// Both outlive this.
  Rewrite(const Trace& trace, const BlockLives& lives);

  /// Blocks are numbered as in the lives. A block that another stream still used is free there too.
  void free_at(std::uint32_t block, Spot spot);
  void keep_forever(std::uint32_t block);
  /// Not of one that was there before the first event.
  void drop(std::uint32_t block);
  /// One that was there before the first event has room for so much.
  void resize(std::uint32_t block, Bytes size);
  /// A further block, asked for by the same caller. Its number; without a free it stays.
  std::uint32_t add(std::uint32_t like, Bytes size, Spot born);

  /// To be called once. O(events + changes log changes). Throws std::logic_error where a block
  /// would be freed before it is asked for.
  Rewritten write();

 private:
  struct Fate {
    Bytes size = 0;
    bool dropped = false;
    bool freed_as_before = true;
    std::optional<Spot> born;  ///< set for an added block
    std::optional<Spot> freed;
    std::uint32_t like = 0;
  };

  const Trace& trace_;
  const BlockLives& lives_;
  std::vector<Fate> fates_;  ///< by block, added ones after those of the lives
};

}  // namespace memreplay
