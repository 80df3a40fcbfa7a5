#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

enum class Opponent { first_fit, best_fit, buddy };

struct Contest {
  Opponent opponent;
  std::uint64_t words;    ///< the most that live at once
  std::uint64_t largest;  ///< words of a block, at most
  Bytes word;
};

/// In words, where the opponent places it.
struct FoughtBlock {
  std::uint64_t at = 0;
  std::uint64_t size = 0;  ///< as the opponent rounds it
  std::uint64_t asked = 0;
  Slot slot = kNoSlot;

  /// Whether one of its words is at `offset` of a grid.
  bool occupies(std::uint64_t offset, std::uint64_t grid) const {
    return (at + size - 1 + grid - offset) / grid != (at + grid - offset - 1) / grid;
  }
};

/// J. M. Robson, "Bounds for some functions concerning dynamic storage allocation", 1974: blocks of
/// 1, 2, 4 … words; of the smaller ones those stay that spoil every place for the next. So each
/// size goes after all that is there. Buddies need one block in each pair alone, and round requests
/// up.
class RobsonProgram {
 public:
  RobsonProgram(const Contest& contest, Draws& draws, WorkloadEvents& events)
      : contest_(contest), draws_(draws), events_(events) {}

  void play() {
    allocate(1);
    for (std::uint64_t size = 2; size <= contest_.largest && !events_.full(); size *= 2) {
      free_all_but(contest_.opponent == Opponent::buddy ? first_of_each_pair(size) : gridded(size));
      allocate(size);
    }
    for (const FoughtBlock& block : blocks_) events_.free(block.slot);
  }

 private:
  /// The blocks that stay.
  using Stays = std::vector<bool>;

  Stays gridded(std::uint64_t size) {
    if (spoilt(offset_ + size / 2, size) > spoilt(offset_, size)) offset_ += size / 2;
    Stays stays;
    for (const FoughtBlock& block : blocks_) stays.push_back(block.occupies(offset_, size));
    return stays;
  }
  /// The first ones are the smallest.
  Stays first_of_each_pair(std::uint64_t size) const {
    Stays stays;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      stays.push_back(i == 0 || blocks_[i].at / size != blocks_[i - 1].at / size);
    }
    return stays;
  }
  /// Words of blocks of `size` that cannot be where the blocks at this offset stay.
  std::uint64_t spoilt(std::uint64_t offset, std::uint64_t size) const {
    std::uint64_t sum = 0;
    for (const FoughtBlock& block : blocks_) {
      if (block.occupies(offset, size)) sum += size - block.size;
    }
    return sum;
  }

  /// In an order by chance: who is left does not depend on it.
  void free_all_but(const Stays& stays) {
    std::vector<FoughtBlock> kept;
    std::vector<FoughtBlock> freed;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      (stays[i] ? kept : freed).push_back(blocks_[i]);
    }
    blocks_ = std::move(kept);
    for (; !freed.empty(); freed.pop_back()) {
      std::swap(freed[draws_.below(freed.size())], freed.back());
      events_.free(freed.back().slot);
      live_ -= freed.back().asked;
    }
  }

  void allocate(std::uint64_t size) {
    const bool rounds = contest_.opponent == Opponent::buddy;
    const std::uint64_t asked = rounds ? size / 2 + 1 : size;
    std::uint64_t at = blocks_.empty() ? 0 : blocks_.back().at + blocks_.back().size;
    if (rounds) at = (at + size - 1) / size * size;
    for (; live_ + asked <= contest_.words; at += size, live_ += asked) {
      blocks_.push_back({at, size, asked, events_.allocate(asked * contest_.word)});
    }
  }

  const Contest& contest_;
  Draws& draws_;
  WorkloadEvents& events_;
  std::vector<FoughtBlock> blocks_;  ///< in order of their places
  std::uint64_t live_ = 0;
  std::uint64_t offset_ = 0;
};

/// After J. M. Robson, "Worst case fragmentation of first fit and best fit storage allocation
/// strategies", 1977: of a hole that is larger than all before, a block leaves one word, which fits
/// a word exactly. That word stays, the block does not, and the next hole is one word larger.
void play_against_best_fit(const Contest& contest, WorkloadEvents& events) {
  std::vector<Slot> words;
  std::uint64_t size = (contest.largest + 1) / 2;
  Slot hole = events.allocate(size * contest.word);
  for (; size < contest.largest && words.size() + 2 * size < contest.words && !events.full();
       ++size) {
    const Slot behind = events.allocate((size + 1) * contest.word);
    events.free(hole);
    const Slot filler = size > 1 ? events.allocate((size - 1) * contest.word) : kNoSlot;
    words.push_back(events.allocate(contest.word));
    if (filler != kNoSlot) events.free(filler);
    hole = behind;
  }
  events.free(hole);
  for (const Slot word : words) events.free(word);
}

void run_adversary(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  const Contest contest{.opponent = static_cast<Opponent>(values.choice("against")),
                        .words = values.whole("words", 1, 1 << 24),
                        .largest = std::bit_floor(values.whole("largest", 1, 1 << 24)),
                        .word = values.size("word")};
  while (!events.full()) {
    if (contest.opponent == Opponent::best_fit) {
      play_against_best_fit(contest, events);
    } else {
      RobsonProgram(contest, draws, events).play();
    }
  }
}

}  // namespace

WorkloadInfo adversary_workload() {
  return {.name = "adversary",
          .summary = "The worst known case for one placement policy, after Robson",
          .options = {{"against", "first-fit|best-fit|buddy", "first-fit",
                       "What it needs, with n words in the largest block: first fit, like any "
                       "policy, about words * (1 + log2(n)/2); buddies about words * log2(n); best "
                       "fit about 3/4 n for each of n/2 words, with 5/2 n words live at most."},
                      {"words", "N", "16384", "Most words that are live at once."},
                      {"word", "SIZE", "4KiB", "Bytes of a word; against buddies a power of two."},
                      {"largest", "N", "256",
                       "Words of the largest block, rounded down to a power of two."}},
          .run = run_adversary};
}

}  // namespace memreplay
