#pragma once

#include <utility>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// Numbers a strategy's live blocks; a number is used again after its block is gone.
template <typename Block>
class HandleTable {
 public:
  Handle add(Block block) {
    if (unused_.empty()) {
      blocks_.push_back(std::move(block));
      return static_cast<Handle>(blocks_.size() - 1);
    }
    const Handle handle = unused_.back();
    unused_.pop_back();
    blocks_[handle] = std::move(block);
    return handle;
  }
  Block remove(Handle handle) {
    unused_.push_back(handle);
    return std::exchange(blocks_[handle], Block{});
  }
  void prefetch(Handle handle) const {
    const auto* block = reinterpret_cast<const char*>(&blocks_[handle]);
    __builtin_prefetch(block);
    __builtin_prefetch(block + sizeof(Block) - 1);
  }
  Block& operator[](Handle handle) { return blocks_[handle]; }
  /// Removed blocks are in it as `Block{}`.
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
  std::vector<Handle> unused_;
};

}  // namespace memreplay
