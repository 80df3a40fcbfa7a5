#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace memreplay {

/// Many durations, in nanoseconds. Count, sum and largest are exact; a quantile is the upper end of
/// the bucket in which it lies, at most one part in 64 too large. O(1) an entry, 30 KiB at most.
class Durations {
 public:
  void add(std::uint64_t ns);
  void add(const Durations& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t largest() const { return largest_; }
  /// The least bucket such that `share` of all durations, in (0, 1], are in it or below; 0 where
  /// there are none.
  std::uint64_t quantile(double share) const;

 private:
  std::vector<std::uint64_t> buckets_;  ///< grows with what is added
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

/// A kind of call to a real device.
enum class CallKind : std::uint8_t {
  alloc,    ///< a region: cudaMalloc, mmap
  free,     ///< a region: cudaFree, munmap
  reserve,  ///< addresses
  release,  ///< addresses
  create,   ///< physical memory without addresses
  destroy,  ///< physical memory without addresses
  map,      ///< puts it behind addresses
  access,   ///< allows the use of what was mapped
  unmap,
  block_alloc,  ///< by the driver's own allocator
  block_free,
  synchronise,  ///< the host waits for the device
  wait,         ///< a stream waits for another, or the host for one event
  fill,         ///< a block gets its pattern
  check,        ///< a block is compared with its pattern
};
inline constexpr std::size_t kCallKinds = 15;

/// The name of a kind of call in reports: "alloc", "block_alloc".
std::string_view name_of(CallKind kind);

struct CallTimes {
  Durations host;    ///< from call to return
  Durations device;  ///< as the device's own clock has it; empty where it has none
};

using TimesByKind = std::array<CallTimes, kCallKinds>;

}  // namespace memreplay
