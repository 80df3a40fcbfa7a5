#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// A size as a text has it: "1.87 GiB" is less than `within` away from the truth, "4864" is it.
struct ToldBytes {
  Bytes bytes = 0;
  Bytes within = 0;

  friend bool operator==(const ToldBytes&, const ToldBytes&) = default;
};

/// Chunks of one class of sizes, the free ones and those in use.
struct ToldBin {
  Bytes from = 0;
  std::uint64_t chunks = 0;
  std::uint64_t in_use = 0;
  ToldBytes size;
  ToldBytes size_in_use;

  friend bool operator==(const ToldBin&, const ToldBin&) = default;
};

/// Why a request was refused, in an allocator's own words: figures of one moment, no history. What
/// the text lacks is unset.
struct ToldFailure {
  enum class Source {
    bfc,            ///< the report of a BFC allocator (TensorFlow, JAX)
    torch_message,  ///< PyTorch's error message
    torch_summary,  ///< torch.cuda.memory_summary() alone
  };
  Source source = Source::bfc;
  std::string allocator;  ///< "GPU_0_bfc"
  std::optional<std::uint64_t> gpu;
  std::optional<ToldBytes> requested;  ///< as rounded; PyTorch: what it asked of the device
  std::optional<ToldBytes> device;     ///< in all
  std::optional<ToldBytes> device_free;
  std::optional<ToldBytes> process;  ///< what this process holds of the device
  std::optional<ToldBytes> limit;    ///< the allocator's own limit
  std::optional<ToldBytes> live;     ///< with rounding
  std::optional<ToldBytes> live_requested;
  std::optional<ToldBytes> reserved;
  std::optional<ToldBytes> free_inside;    ///< in what is reserved
  std::optional<ToldBytes> private_pools;  ///< live in private pools, with what is free there
  std::optional<ToldBytes> largest_free;
  std::optional<ToldBytes> not_releasable;  ///< free, in segments with live blocks
  std::optional<ToldBytes> live_peak;
  std::optional<ToldBytes> reserved_peak;
  std::optional<std::uint64_t> live_blocks;
  std::optional<std::uint64_t> segments;
  std::optional<std::uint64_t> ooms;
  std::optional<std::uint64_t> retries;
  std::vector<ToldBin> bins;  ///< only bins with chunks
  std::uint64_t reports = 1;  ///< reports of failures in the text; this is the first

  friend bool operator==(const ToldFailure&, const ToldFailure&) = default;
};

}  // namespace memreplay
