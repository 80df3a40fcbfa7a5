#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/torch/start_state.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Something the program did that a recording shows only by its effects.
struct ProgramCall {
  enum class Kind {
    empty_cache,
    end_pool,      ///< a MemPool was deleted: its cached memory is returned at once
    release_pool,  ///< nobody holds the private pool any more: later releases include it
  };
  std::uint64_t event = 0;  ///< the call came right before this event
  Kind kind = Kind::empty_cache;
  PoolIndex pool = 0;

  friend bool operator==(const ProgramCall&, const ProgramCall&) = default;
};

/// A `free_completed` that only a synchronisation of the recorded allocator brought about. Under
/// other settings it comes when the blocks of its stream usually complete.
struct Deferral {
  std::uint64_t event = 0;  ///< the free_completed
  std::uint64_t due = 0;    ///< the request before which it comes; UINT64_MAX: never by itself

  friend bool operator==(const Deferral&, const Deferral&) = default;
};

/// A block that is not as large as its request rounded to 512 bytes: of other roundings, or with a
/// remainder that was not worth a block of its own.
struct BlockSize {
  std::uint64_t event = 0;  ///< the request
  Bytes size = 0;

  friend bool operator==(const BlockSize&, const BlockSize&) = default;
};

/// The program passed other settings to PyTorch's allocator right before a request.
struct SettingsCall {
  std::uint64_t event = 0;
  torch::Settings settings;  ///< all that hold from then on
  std::string conf;          ///< what was passed, for people: "max_split_size_mb:100"

  friend bool operator==(const SettingsCall&, const SettingsCall&) = default;
};

/// Facts that a recording of PyTorch's allocator implies beside its events, found while its
/// decisions were reproduced: what a what-if has to know of the program.
struct Reading {
  std::vector<ProgramCall> calls;  ///< by event
  /// Completions right before a synchronisation of the recorded allocator, which may have made
  /// them.
  std::uint64_t doubtful_completions = 0;
  std::vector<Deferral> deferrals;           ///< by event
  std::vector<PoolOptions> pool_options;     ///< by pool of the trace
  std::vector<BlockSize> block_sizes;        ///< by event; as far as the recording was reproduced
  std::vector<SettingsCall> settings_calls;  ///< by event
  /// A request made the recorded allocator return memory: its device, or its limit, was full.
  bool released_memory = false;
  /// Requests for which the recorded allocator released memory and tried again.
  std::uint64_t retries = 0;
  Bytes request_padding = 0;          ///< see RecordedSettings
  Bytes large_alignment = 0;          ///< likewise
  std::optional<Bytes> memory_limit;  ///< one under which the recorded collections happen
  std::optional<Bytes> device_total;  ///< the largest that explains where reservations end
  /// The trace with what the recording does not state put right: pools of requests, and ages and
  /// whole blocks of the segments of its start. Null: as it was read.
  std::shared_ptr<const Trace> corrected;
};

/// What the program passed by the markers that `memreplay record` writes for it,
/// "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:100", the first of them what held at first; up to one
/// that this release does not read.
std::vector<SettingsCall> noted_settings(const Recording& recording, const Trace& trace,
                                         const torch::Release& release);

/// The options of a recording's private pools, as far as it shows them. CUDA graphs capture on
/// streams of their own, a MemPool is used on those of the program.
std::vector<PoolOptions> recorded_pools(const Trace& trace);

/// Requests with which a graph capture begins: torch.cuda.graph empties the cache first, mostly
/// without any effect that a recording shows. Those that follow a visible one are left out.
std::vector<std::uint64_t> captures_without_empty_cache(const Trace& trace, const Reading& reading);

/// Fills in when the deferred completions are due: as many requests after the free as the blocks of
/// their stream usually take that no synchronisation completed. O(events).
void complete_deferrals(const Trace& trace, Reading& reading);

/// The memory of the recorded allocator, followed event by event by what the recording states,
/// without any model. Segment events O(log segments), others O(1).
class RecordedState {
 public:
  explicit RecordedState(const Trace& trace);

  void play(std::size_t event);
  /// The size of a block, where the model found it.
  void note_size(Slot slot, Bytes size) { live_[slot].size = size; }
  /// The state now. Blocks that lie in no segment are left out and counted in `unplaced`.
  MemoryState layout(const torch::Settings& settings, std::uint64_t& unplaced) const;

 private:
  using Segment = SegmentHistory::Segment;
  void map(std::size_t event);

  const Trace& trace_;
  SegmentTable segments_;         ///< stream and pool are the trace's indices
  std::vector<StartBlock> live_;  ///< by slot; kNoSlot: not live
};

}  // namespace memreplay
