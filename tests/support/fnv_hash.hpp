#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace memreplay {

/// 64-bit FNV-1a over little-endian words, as the recordings of other allocators are summed up.
class FnvHash {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ ((word >> (8 * byte)) & 0xff)) * 1099511628211u;
    }
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

}  // namespace memreplay
