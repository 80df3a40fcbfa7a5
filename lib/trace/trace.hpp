#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program.hpp"
#include "core/recorded_settings.hpp"
#include "core/request.hpp"
#include "trace/event_columns.hpp"

namespace memreplay {

struct PastedText;

/// How much of the program's life a trace covers, and what was done to make it replayable.
struct Coverage {
  bool starts_empty = true;  ///< nothing was allocated before the first event
  bool complete = true;      ///< nothing is known to be missing
  std::uint64_t preexisting_blocks = 0;
  Bytes preexisting_bytes = 0;  ///< requested
  Bytes cached_bytes = 0;  ///< reserved before the first event beside them, where no place is known
  std::map<std::string, std::uint64_t> dropped;      ///< reason -> events left out
  std::map<std::string, std::uint64_t> synthesised;  ///< reason -> events added
  std::map<std::string, std::string> first_places;   ///< reason -> "line 12", where it is known
  bool gapless = true;  ///< nothing is known to be missing since the first event
  /// Entries of a ring that was full: what came before them was overwritten.
  std::optional<std::uint64_t> full_ring = {};

  /// Counts events that are left out; asks for the place, "line 12", of the first.
  template <typename Place>
  void leave_out(const std::string& reason, const Place& place, std::uint64_t events = 1) {
    if (events == 0) return;
    if ((dropped[reason] += events) == events) note_place(reason, place());
  }
  /// Keeps the first; an empty one is not known.
  void note_place(const std::string& reason, std::string place) {
    if (!place.empty()) first_places.emplace(reason, std::move(place));
  }

  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// What an allocator counted of itself, as its recording states it: all after its rounding.
struct OwnCount {
  std::string allocator;  ///< its name
  Bytes before = 0;       ///< allocated before the first event
  Bytes peak = 0;         ///< in the recording
  Bytes end = 0;
  Bytes limit = 0;
  Bytes process_peak = 0;      ///< since the process began
  std::uint64_t events = 0;    ///< that state what is allocated after them
  std::uint64_t agreeing = 0;  ///< those that equal the sum of all sizes so far

  friend bool operator==(const OwnCount&, const OwnCount&) = default;
};

/// What a format says of a trace beside its events.
struct StatedFacts {
  std::optional<OwnCount> own_count = {};
  std::optional<Bytes> planned = {};   ///< the height of the plan that its buffers were given
  bool sampled = false;                ///< its state was told from samples
  bool at_peak = false;                ///< its state is that of the peak
  std::optional<Bytes> end_live = {};  ///< beside such a state: live at the end

  friend bool operator==(const StatedFacts&, const StatedFacts&) = default;
};

/// The events of one device, in the columns that it is, or left in their file.
struct Trace : EventColumns {
  int gpu = 0;  ///< the recording's device number; -1: host memory

  Slot slot_count = 0;                 ///< one above the highest slot in use
  std::vector<StreamPool> lanes;       ///< never empty
  std::vector<std::uint64_t> streams;  ///< driver handle of each stream, ascending
  std::vector<PoolId> pools;           ///< by pool; the first is the default pool

  MemoryState start;  ///< before the first event; its blocks hold slots of this trace
  MemoryState end;    ///< as the recording states it; empty where it does not
  Coverage coverage;
  StatedFacts stated;

  /// Instead of the columns, which are empty then: only for commands that ask for it.
  std::shared_ptr<const StreamedEvents> streamed;

  std::size_t size() const { return streamed ? streamed->totals().events : ops.size(); }
  StreamPool lane(std::size_t event) const { return lanes[lane_of[event]]; }
  /// True where this event requests a free that the next one completes.
  bool completes_at_once(std::size_t event) const {
    return ops[event] == Op::free_requested && event + 1 < size() &&
           ops[event + 1] == Op::free_completed && slots[event + 1] == slots[event];
  }

  friend bool operator==(const Trace&, const Trace&) = default;
};

inline constexpr std::uint32_t kNoLine = UINT32_MAX;

struct Frame {
  std::uint32_t name = 0;  ///< index into Recording::texts
  std::uint32_t file = 0;  ///< index into Recording::texts
  std::uint32_t line = 0;  ///< kNoLine where Python knows none

  friend auto operator<=>(const Frame&, const Frame&) = default;
};

struct Annotation {
  std::uint32_t text = 0;  ///< index into Recording::texts
  bool begins = true;      ///< or ends
  int gpu = 0;
  std::int64_t time_us = 0;

  friend bool operator==(const Annotation&, const Annotation&) = default;
};

/// One file: a trace for each device that has events or memory, and the texts that they share.
struct Recording {
  std::string path;
  std::string format;              ///< registered reader, "torch-snapshot"
  std::string detail;              ///< for people: "PyTorch snapshot, protocol 4"
  std::vector<Trace> traces;       ///< by ascending device
  std::vector<std::string> lacks;  ///< what its format does not say: "threads"
  std::string why_no_trace;        ///< why it has none, where more is known than that
  RecordedSettings settings;
  std::string strategy;  ///< that models its allocator, as options name it; empty: not known
  std::vector<Annotation> annotations;

  std::vector<std::string> texts;  ///< 0 is the empty text
  std::vector<Frame> frames;       ///< distinct
  std::vector<std::vector<std::uint32_t>>
      stacks;  ///< frames, innermost first; 0 is the empty stack

  std::shared_ptr<const PastedText> text;  ///< instead of traces: messages that somebody pasted

  friend bool operator==(const Recording&, const Recording&) = default;
};

/// The format of the pinned host memory in a PyTorch snapshot: another allocator's.
inline constexpr std::string_view kPinnedHostFormat = "pinned-host";

/// What recordings of several processes were made into: each has an allocator of its own.
inline constexpr std::string_view kTogetherFormat = "together";

/// The allocator that made the recording is PyTorch's, as far as it tells.
inline bool is_torch(const Recording& recording) { return recording.format.starts_with("torch-"); }

/// Calls `use` with all events of a trace in their order: at once where they are in memory, else
/// as many at a time as its file has together. `first` is the number of the first of them; `use` is
/// false to end it. Throws InputError.
void for_each_block(
    const Trace& trace, ColdColumns wanted,
    const std::function<bool(std::uint64_t first, const EventColumns& events)>& use);

}  // namespace memreplay
