#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace memreplay {

/// A set of numbers that knows its lowest: a bitmap with a bitmap of its words above it, and so on.
/// A call costs O(log64 of the highest number); memory grows with the highest number put in.
class IndexSet {
 public:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  bool empty() const { return depth_ == 0 || levels_[depth_ - 1][0] == 0; }
  bool contains(std::uint64_t n) const {
    const std::uint64_t word = n >> 6;
    return depth_ != 0 && word < levels_[0].size() && (levels_[0][word] >> (n & 63) & 1) != 0;
  }
  void insert(std::uint64_t n) {
    while (depth_ == 0 || n >> 6 * (depth_ - 1) >> 6 != 0) {
      levels_[depth_].assign(1, depth_ != 0 && levels_[depth_ - 1][0] != 0 ? 1 : 0);
      ++depth_;
    }
    for (unsigned level = 0; level < depth_; ++level) {
      std::vector<std::uint64_t>& words = levels_[level];
      const std::uint64_t word = n >> 6;
      if (word >= words.size()) words.resize(word + 1);
      const bool was_empty = words[word] == 0;
      words[word] |= std::uint64_t{1} << (n & 63);
      if (!was_empty) return;
      n = word;
    }
  }
  /// `n` is in it.
  void erase(std::uint64_t n) {
    for (unsigned level = 0; level < depth_; ++level) {
      std::uint64_t& word = levels_[level][n >> 6];
      word &= ~(std::uint64_t{1} << (n & 63));
      if (word != 0) return;
      n >>= 6;
    }
  }
  /// The lowest; kNone where there is none.
  std::uint64_t first() const {
    if (empty()) return kNone;
    std::uint64_t n = 0;
    for (unsigned level = depth_; level-- > 0;) {
      n = n << 6 | static_cast<std::uint64_t>(std::countr_zero(levels_[level][n]));
    }
    return n;
  }
  /// All of them, ascending.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (depth_ == 0) return;
    for (std::uint64_t word = 0; word < levels_[0].size(); ++word) {
      for (std::uint64_t bits = levels_[0][word]; bits != 0; bits &= bits - 1) {
        visit(word << 6 | static_cast<std::uint64_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  std::array<std::vector<std::uint64_t>, 11> levels_;  ///< the top one is a single word
  unsigned depth_ = 0;
};

}  // namespace memreplay
