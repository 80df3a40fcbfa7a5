#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/request.hpp"
#include "core/units.hpp"
#include "metrics/made_facts.hpp"
#include "metrics/run_picture.hpp"
#include "program/facts.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The memory of a device at the end of its recording.
struct StateSummary {
  Bytes reserved = 0;
  std::uint64_t segments = 0;
  Bytes live = 0;  ///< as charged
  std::uint64_t blocks = 0;
  std::uint64_t blocks_with_stacks = 0;
};

/// Blocks that a selector picks.
struct SelectedBlocks {
  std::uint64_t blocks = 0;
  Bytes bytes = 0;     ///< requested
  Bytes smallest = 0;  ///< block
  Bytes largest = 0;
  Bytes peak_live = 0;  ///< the most of them at one time
  std::uint64_t peak_event = 0;
  Bytes at_peak = 0;             ///< their bytes when most was requested of all
  std::vector<PlaceSum> places;  ///< who asked for them, most bytes first
};

/// What a recording itself says about one device.
struct TraceSummary {
  std::string path;
  std::string format;
  std::string detail;               ///< for people
  std::optional<Bytes> file_bytes;  ///< unset for standard input
  std::size_t devices = 1;          ///< in the file
  int gpu = 0;
  std::uint64_t events = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t streams = 0;
  std::uint64_t pools = 0;
  std::optional<std::uint64_t> threads;  ///< unset: not looked for, or not told
  std::optional<std::int64_t> duration_us;

  bool starts_empty = true;
  bool complete = true;
  std::uint64_t preexisting_blocks = 0;
  Bytes preexisting_bytes = 0;
  std::map<std::string, std::uint64_t> dropped;
  std::map<std::string, std::uint64_t> synthesised;
  std::map<std::string, std::string> first_places;  ///< by reason, where they are known
  std::vector<std::string> lacks;                   ///< what its format does not say
  std::string why_no_trace;                         ///< set for a recording without devices
  bool gapless = true;                     ///< nothing is known to be missing since its first event
  std::optional<std::uint64_t> full_ring;  ///< entries of a ring that was full
  /// What came before, where it was looked into: "fresh", "steady", "smaller" or "larger".
  std::optional<std::string> warm_class;
  double largest_earlier_step = 0;  ///< in those of the recording; 0: none

  std::optional<std::string> settings;  ///< unset where the recording does not state them
  std::string settings_variable;        ///< under which the recording states them
  /// Unset where neither the settings nor the segments tell.
  std::optional<bool> expandable_segments;
  Bytes request_padding = 0;  ///< added to each request by the recorded allocator
  /// The least and the most that explain its blocks as well.
  std::optional<std::pair<Bytes, Bytes>> request_padding_range;
  Bytes peak_requested = 0;
  std::optional<Bytes> peak_reserved;
  std::optional<Bytes> end_reserved;
  /// The events right after which most was requested and most was reserved; if that lasted, the one
  /// with most requested. Unset: before the first event.
  std::optional<std::uint64_t> peak_requested_event;
  std::optional<std::uint64_t> peak_reserved_event;
  std::uint64_t ooms = 0;
  std::vector<PluggablePool> pluggable_pools;  ///< they may sleep
  /// Requests for which the recorded allocator first released memory; unset: not looked for.
  std::optional<std::uint64_t> retries;
  /// Set: whatever the rest of the program could raise is a lower bound.
  std::optional<EarlyEnd> early_end;
  std::optional<Growth> growth;              ///< unset: no call site keeps more with each step
  std::optional<StateSummary> state;         ///< unset where the recording holds none
  StatedFacts stated;
  std::optional<RunPicture> picture;         ///< unset: no plot asked for
  std::optional<SelectedBlocks> selected;    ///< unset: no selector asked for
  std::vector<EditFacts> edits;              ///< made to the program; none: as it was recorded
  std::optional<PredictionFacts> predicted;  ///< unset: it is a recording

  /// The growth where it is a hundredth of the peak or more; null: there is none worth a word.
  const Growth* notable_growth() const {
    return growth && growth->grown >= peak_requested / 100 ? &*growth : nullptr;
  }

  RecordingFacts facts() const { return {early_end, starts_empty, events > 0}; }
};

}  // namespace memreplay
