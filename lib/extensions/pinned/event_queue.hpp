#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// Blocks that streams still use, oldest first. As PyTorch's host allocator looks at its events:
/// one that is not over holds up all later ones.
class EventQueue {
 public:
  void requested(Handle block) {
    waiting_.push_back(block);
    if (block >= over_.size()) over_.resize(block + 1);
    over_[block] = 0;
  }
  void completed(Handle block) { over_[block] = 1; }
  /// Visits, oldest first, what is over up to the first that is not.
  template <typename Visit>
  void process(const Visit& visit) {
    while (!waiting_.empty() && over_[waiting_.front()] != 0) {
      const Handle block = waiting_.front();
      waiting_.pop_front();
      visit(block);
    }
  }

 private:
  std::deque<Handle> waiting_;
  std::vector<std::uint8_t> over_;  ///< by block
};

}  // namespace memreplay
