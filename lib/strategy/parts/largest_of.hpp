#pragma once

#include <cstdint>

#include "core/units.hpp"
#include "strategy/parts/max_tree.hpp"

namespace memreplay {

/// The largest of the values that many members have. What a value is at most is known of each, so
/// that only those that could be the largest are asked. A value may fall unsaid.
class LargestOf {
 public:
  /// The member, which may be new, may have any value. O(1); O(log members) for the first time
  /// since it was asked.
  void note(std::uint32_t member) {
    most_.reach(std::size_t{member} + 1);
    note(member, UINT64_MAX);
  }
  /// The value of one that was noted before may have become as large as this.
  void note(std::uint32_t member, Bytes at_most) {
    if (most_.at(member) < at_most) most_.set(member, at_most);
  }

  /// `value_of(member)` tells the value now; 0 where there is no member. O(log members) for each
  /// that is asked.
  template <typename ValueOf>
  Bytes get(const ValueOf& value_of) {
    while (true) {
      const Bytes most = most_.top();
      if (most == 0) return 0;
      const std::uint32_t member = most_.top_place();
      const Bytes value = value_of(member);
      most_.set(member, value);
      if (value == most_.top()) return value;
    }
  }

 private:
  MaxTree most_;
};

}  // namespace memreplay
