#pragma once

#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "strategy/parts/max_tree.hpp"

namespace memreplay {

/// The largest of the values that many members have; only those that changed are asked again.
class LargestOf {
 public:
  /// The member's value may have changed. O(1).
  void note(std::uint32_t member) {
    if (member >= noted_.size()) noted_.resize(std::size_t{member} + 1, 0);
    if (noted_[member] != 0) return;
    noted_[member] = 1;
    changed_.push_back(member);
  }

  /// `value_of(member)` tells the value now; 0 where there is no member. O(log) for each change.
  template <typename ValueOf>
  Bytes get(const ValueOf& value_of) {
    values_.reach(noted_.size());
    for (const std::uint32_t member : changed_) {
      noted_[member] = 0;
      values_.set(member, value_of(member));
    }
    changed_.clear();
    return values_.top();
  }

 private:
  std::vector<std::uint8_t> noted_;  ///< by member
  std::vector<std::uint32_t> changed_;
  MaxTree values_;
};

}  // namespace memreplay
