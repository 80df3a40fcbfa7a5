#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace memreplay {

/// The allocator settings that a recording carries (`allocator_settings` of a PyTorch snapshot),
/// as far as it does.
struct RecordedSettings {
  bool present = false;       ///< the recording has such a record at all
  std::string conf;           ///< PYTORCH_CUDA_ALLOC_CONF as it was parsed last
  std::string conf_variable;  ///< under which name; "PYTORCH_NPU_ALLOC_CONF" of another device
  std::optional<std::int64_t> max_split_size;  ///< bytes; -1: no limit
  std::optional<double> garbage_collection_threshold;
  std::optional<bool> expandable_segments;
  /// Entry i is the division count for sizes from 2^(20+i) bytes on.
  std::optional<std::array<std::uint32_t, 16>> roundup_power2_divisions;
  /// Bytes that the recorded allocator adds to a request before it rounds: 0 for PyTorch itself.
  std::uint64_t request_padding = 0;
  /// The least and the most that explain the blocks of the recording as well.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> request_padding_range;
  /// In expandable segments, requests of 2 MiB and more begin at multiples of it where they can: 0
  /// for PyTorch itself. Unset: not known.
  std::optional<std::uint64_t> large_alignment;
  /// In bytes, where one was found that explains what the recorded allocator did.
  std::optional<std::uint64_t> memory_limit;
  /// The oldest release that writes what the recording contains, as "2.12"; empty when unknown.
  std::string oldest_release;

  /// Stated, or seen in the segments.
  bool known() const { return present || expandable_segments.has_value(); }

  friend bool operator==(const RecordedSettings&, const RecordedSettings&) = default;
};

}  // namespace memreplay
