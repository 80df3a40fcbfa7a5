#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace memreplay {

/// Stacks by the bytes that referred to their frames. Most lists of frames of a large snapshot
/// repeat an earlier run of memo references byte for byte, and mean the same as long as no memo
/// number is given twice.
class PickleRuns {
 public:
  struct Run {
    std::uint64_t key = 0;
    std::size_t begin = 0;
    std::size_t length = 0;  ///< 0: no run
    std::uint32_t stack = 0;
  };

  static constexpr std::size_t kKeyBytes = 32;

  PickleRuns() : runs_(1024) {}

  /// The run that `bytes` starts with; null when it is new.
  const Run* find(const unsigned char* bytes, std::size_t left) const {
    if (left < kKeyBytes) return nullptr;
    const std::uint64_t key = key_of(bytes);
    // Stacks with the same innermost frames stand side by side.
    for (std::size_t step = 0; step < kNeighbours; ++step) {
      const Run& run = runs_[(key + step) & (runs_.size() - 1)];
      if (run.length == 0) return nullptr;
      if (run.key == key && run.length <= left &&
          std::memcmp(bytes_.data() + run.begin, bytes, run.length) == 0) {
        return &run;
      }
    }
    return nullptr;
  }

  void add(const unsigned char* bytes, std::size_t length, std::uint32_t stack) {
    if (length < kKeyBytes || bytes_.size() > kMostBytes) return;
    if (++count_ * 2 > runs_.size()) grow();
    const Run run{key_of(bytes), bytes_.size(), length, stack};
    bytes_.insert(bytes_.end(), bytes, bytes + length);
    place(run);
  }

  /// A memo number was given twice: the bytes may mean something else from now on.
  void forget() { *this = PickleRuns(); }

 private:
  static constexpr std::size_t kNeighbours = 8;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  static std::uint64_t key_of(const unsigned char* bytes) {
    std::uint64_t words[kKeyBytes / 8];
    std::memcpy(words, bytes, sizeof words);
    const std::uint64_t low = (words[0] ^ (words[1] << 3)) * 0x9E3779B97F4A7C15;
    const std::uint64_t high = (words[2] ^ (words[3] << 3)) * 0xD6E8FEB86659FD93;
    const std::uint64_t key = low ^ (high >> 7) ^ high;
    return key ^ (key >> 32);
  }

  /// Enters a run in the first free place near its key, else over the oldest guess there.
  void place(const Run& run) {
    const std::size_t mask = runs_.size() - 1;
    std::size_t step = 0;
    while (step < kNeighbours && runs_[(run.key + step) & mask].length != 0) ++step;
    runs_[(run.key + step % kNeighbours) & mask] = run;
  }

  void grow() {
    std::vector<Run> old(runs_.size() * 4);
    old.swap(runs_);
    for (const Run& run : old) {
      if (run.length != 0) place(run);
    }
  }

  std::vector<Run> runs_;  // a power of two of places
  std::vector<unsigned char> bytes_;
  std::size_t count_ = 0;
};

}  // namespace memreplay
