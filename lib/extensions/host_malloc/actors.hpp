#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/request.hpp"

namespace memreplay {

/// Numbers who asks and frees, each pair of thread and stream by its first appearance: streams
/// stand in for threads where a recording has none.
class Actors {
 public:
  std::uint32_t number(StreamIndex stream, std::uint32_t thread) {
    const std::uint64_t key = std::uint64_t{thread} << 16 | stream;
    if (key == last_key_) return last_number_;
    last_key_ = key;
    return last_number_ =
               numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t last_key_ = UINT64_MAX;
  std::uint32_t last_number_ = 0;
};

}  // namespace memreplay
