#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/program.hpp"
#include "core/recorded_settings.hpp"
#include "trace/reader.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The actions of a PyTorch trace entry, in PyTorch's order; `other` are those without effect.
enum class TorchAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  annotate,
  other,
};

inline constexpr std::uint32_t kUnknownPool = UINT32_MAX;

/// Python's line -1, "no line", as PyTorch writes it.
inline constexpr std::uint64_t kNoLineWritten = UINT64_MAX;

/// One entry of `device_traces`, as the file states it.
struct TorchEntry {
  Address address = 0;  ///< in `oom` entries: device_free
  Bytes size = 0;
  std::uint64_t stream = 0;  ///< driver handle
  std::int64_t time_us = 0;  ///< 0 where the release recorded no time
  std::uint32_t stack = 0;
  std::uint32_t tag = 0;              ///< user_metadata, else 0
  std::uint32_t pool = kUnknownPool;  ///< index into TorchSnapshot::pools
  TorchAction action = TorchAction::other;
};

struct TorchBlock {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;  ///< as stated: stale for free blocks
  BlockState state = BlockState::free;
  std::uint32_t stack = 0;
};

struct TorchSegment {
  int device = 0;
  Address address = 0;
  Bytes size = 0;
  std::uint64_t stream = 0;
  std::uint32_t pool = kUnknownPool;
  bool small_pool = false;
  bool expandable = false;
  std::vector<TorchBlock> blocks;
};

/// A PyTorch snapshot in the order and the words of the file, before any interpretation.
struct TorchSnapshot {
  std::vector<TorchSegment> segments;
  std::vector<std::vector<TorchEntry>> device_traces;
  std::vector<std::uint64_t> entry_counts;   ///< by device, those of no known action too
  std::optional<std::uint64_t> max_entries;  ///< capacity of a ring, where the file states it
  std::vector<PoolId> pools;                 ///< distinct; referred to by index
  bool has_traces = false;                   ///< the file has the key device_traces
  bool has_times = false;                    ///< entries have time_us
  bool has_entry_pools = false;
  std::map<std::string, std::uint64_t> unknown_actions;  ///< name -> entries
  std::uint64_t host_entries = 0;                        ///< entries of host_traces, not replayed
  RecordedSettings settings;
  std::vector<Annotation> annotations;
  std::vector<std::string> texts;                  ///< 0 is the empty text
  std::vector<Frame> frames;                       ///< distinct
  std::vector<std::vector<std::uint32_t>> stacks;  ///< 0 is the empty stack
};

/// The trace of one device, or of the host: -1, the only list of a snapshot converted with it.
Trace torch_trace(TorchSnapshot& snapshot, int device);

/// Interprets a snapshot: resolves addresses to blocks, rebuilds the state before the first entry
/// from the final segments, counts what is missing. Throws InputError naming device and entry.
/// O(log live) an entry.
Recording torch_recording(TorchSnapshot&& snapshot, const std::string& path,
                          const std::string& format, const std::string& detail);

/// Interprets the pinned host memory of a snapshot that was converted with it: device -1.
Recording host_recording(TorchSnapshot&& snapshot, const std::string& path,
                         const std::string& format, const std::string& detail);

/// Reads a PyTorch snapshot written as JSON. Throws InputError.
TorchSnapshot read_torch_json(const Input& input);

/// Reads the pickle of a PyTorch snapshot without Python. Throws InputError.
TorchSnapshot read_torch_pickle(const Input& input);

bool is_pickle(const Input& input);
/// The format for people: "PyTorch snapshot, protocol 4".
std::string torch_pickle_detail(const Input& input);

inline constexpr std::string_view kTorchPickleFormat = "torch-snapshot";

}  // namespace memreplay
