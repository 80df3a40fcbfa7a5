#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diff/common_places.hpp"
#include "analysis/diff/peaks.hpp"
#include "analysis/diff/requests.hpp"

/// What changed between two recordings: blocks are matched by the stack that asked for them and by
/// size, never by address.
namespace memreplay {

struct SizeDiff {
  Bytes size = 0;
  std::uint64_t a_blocks = 0;
  std::uint64_t b_blocks = 0;
};

/// What one place holds at the two peaks, on one stream, in private pools or the default one.
struct PlaceDiff {
  PlacePair place;
  bool private_pool = false;
  StreamIndex stream = 0;
  Bytes a_bytes = 0;  ///< requested
  Bytes b_bytes = 0;
  std::uint64_t a_blocks = 0;
  std::uint64_t b_blocks = 0;
  std::vector<SizeDiff> sizes;  ///< ascending

  enum class Change { same, grew, shrank, only_a, only_b, other_sizes };
  Change change() const;
  /// Of the larger side over the smaller one.
  Bytes difference() const { return a_bytes < b_bytes ? b_bytes - a_bytes : a_bytes - b_bytes; }
};

/// Sums of what was matched block by block.
struct BlockSum {
  std::uint64_t blocks = 0;
  Bytes bytes = 0;
};

/// The largest difference in bytes first, what is the same last; of equals by place, pool, stream.
std::vector<PlaceDiff> diff_blocks(const CommonPlaces& places, const std::vector<LiveBlock>& live_a,
                                   const std::vector<LiveBlock>& live_b);

struct RecordingsDiff {
  SidePeaks a;
  SidePeaks b;
  std::uint64_t at_step = 0;  ///< whose peaks are compared; 0: those of the whole recordings
  SpanPeak a_peak;
  SpanPeak b_peak;
  bool a_has_stacks = true;
  bool b_has_stacks = true;
  std::vector<PlaceDiff> places;
  BlockSum in_both;  ///< same place, same size
  BlockSum only_a;
  BlockSum only_b;
  RequestsDiff requests;

  bool by_stack() const { return a_has_stacks && b_has_stacks; }
  bool has_steps() const {
    return a.steps.source != Steps::Source::none && b.steps.source != Steps::Source::none;
  }
};

/// `at_step`, from 1: compares the peaks within that step. Throws UsageError where one recording
/// has no such step. The peaks are those of `a` and `b`, whose subjects these are.
RecordingsDiff diff_recordings(const Subject& a, SidePeaks a_peaks, const Subject& b,
                               SidePeaks b_peaks, std::optional<std::uint64_t> at_step);

}  // namespace memreplay
