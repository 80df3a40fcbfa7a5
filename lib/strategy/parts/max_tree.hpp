#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Values in places from 0 on, 0 at first, of which the largest is known.
class MaxTree {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// From now on there are so many places at least. O(places) where they become more.
  void reach(std::size_t places) {
    if (places <= values_.size()) return;
    values_.resize(std::bit_ceil(places), 0);
    above_.assign(values_.size(), 0);
    for (std::size_t at = above_.size(); at-- > 1;) above_[at] = larger_below(at);
  }

  Bytes top() const { return node(1); }
  Bytes at(std::uint32_t place) const { return values_[place]; }
  /// O(log places).
  void set(std::uint32_t place, Bytes value) {
    values_[place] = value;
    for (std::size_t at = (values_.size() + place) / 2; at > 0; at /= 2) {
      const Bytes larger = larger_below(at);
      if (std::exchange(above_[at], larger) == larger) return;
    }
  }

  /// The first place from `place` on with that value at least, which is above 0; kNone: there is
  /// none. O(log places).
  std::uint32_t next(std::uint32_t place, Bytes least) const {
    const std::size_t places = values_.size();
    if (place >= places) return kNone;
    std::size_t at = places + place;
    while (node(at) < least) {
      if (std::has_single_bit(at + 1)) return kNone;
      ++at;
      while (at % 2 == 0) at /= 2;
    }
    return first_below(at, least);
  }
  /// The first place with the top's value. O(log places).
  std::uint32_t top_place() const { return first_below(1, top()); }

 private:
  std::uint32_t first_below(std::size_t at, Bytes least) const {
    while (at < values_.size()) at = 2 * at + (node(2 * at) < least);
    return static_cast<std::uint32_t>(at - values_.size());
  }
  /// From the top, 1; below each one its two, and last the places.
  Bytes node(std::size_t at) const {
    return at < values_.size() ? above_[at] : values_[at - values_.size()];
  }
  Bytes larger_below(std::size_t at) const { return std::max(node(2 * at), node(2 * at + 1)); }

  std::vector<Bytes> values_ = {0};
  std::vector<Bytes> above_ = {0};
};

}  // namespace memreplay
