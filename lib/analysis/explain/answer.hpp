#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/info/answer.hpp"
#include "analysis/recorded/answer.hpp"
#include "analysis/tune/answer.hpp"
#include "core/request.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

struct Control;
struct ExplainQuestion;
class Inputs;

/// Why a request was not served.
enum class Cause {
  none,           ///< every request was
  shortage,       ///< what is live and the request together are more than there is
  fragmentation,  ///< they would fit, were the memory used otherwise
  outside,        ///< they would fit, did others not hold memory, or a limit not forbid it
};

/// Free memory that cannot be returned to the device because live blocks lie beside it, counted for
/// the code place of the oldest block of its segment.
struct Pin {
  std::string place;
  Bytes pinned = 0;
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;  ///< live ones of this place in these segments
  std::optional<std::uint64_t>
      oldest;  ///< event of its oldest block; nothing: from before the trace
};

struct Pins {
  std::vector<Pin> by_place;  ///< the oldest first
  Bytes pinned = 0;           ///< their sum
  Bytes returnable = 0;       ///< free memory that could be returned: whole segments and granules
};

/// Live blocks of one class of sizes: those requested within [from, 2 from).
struct SizeClassLoss {
  Bytes from = 0;
  std::uint64_t blocks = 0;
  Bytes requested = 0;
  Bytes allocated = 0;

  Bytes lost() const { return allocated - requested; }
};

/// What one pool holds for one stream.
struct PoolRow {
  PoolIndex pool = 0;
  StreamIndex stream = 0;
  bool small_pool = false;
  std::uint64_t segments = 0;
  Bytes reserved = 0;
  Bytes allocated = 0;
  Bytes pending = 0;
  Bytes free = 0;
  Bytes largest_free = 0;
};

/// The peaks of all spans of one name.
struct PhasePeak {
  std::string name;
  std::uint32_t depth = 0;
  std::uint64_t times = 0;
  Bytes peak_requested = 0;
  std::uint64_t peak_event = 0;  ///< at which most was requested
  Bytes peak_reserved = 0;
};

/// The memory right before an event, and why a request was not served there.
struct Explanation {
  /// Without at_oom: of what was there before the recording not all found room.
  Cause cause = Cause::none;
  std::uint64_t event = 0;  ///< the memory is that right before it
  bool chosen = false;      ///< by --at, not the first OOM or the peak
  bool at_oom = false;      ///< the event is a refused request
  std::uint64_t step = 0;   ///< of the program, from 1; 0: unknown
  StreamIndex stream = 0;   ///< of the request
  PoolIndex pool = 0;
  std::string place;           ///< of the request
  Bytes requested = 0;         ///< the request, as rounded; 0 where there is none
  Bytes asked = 0;             ///< what the allocator asked of the device for it
  std::optional<Bytes> room;   ///< what the allocator can have: reserved and free on the device
  std::optional<Bytes> total;  ///< the whole device, where it is known
  Bytes device_free = 0;
  Bytes allowed = UINT64_MAX;  ///< what a limit leaves the allocator beyond what it holds
  Bytes live_requested = 0;
  Bytes live_allocated = 0;
  std::uint64_t live_blocks = 0;
  Bytes pending = 0;  ///< freed, but another stream may still use it
  Bytes reserved = 0;
  std::uint64_t segments = 0;
  Bytes free_inside = 0;
  Bytes largest_free = 0;
  Bytes kept_whole = 0;        ///< free blocks of max_split_size or more: not for smaller requests
  std::uint64_t unplaced = 0;  ///< live blocks that lie in no known segment
  Pins pins;
  std::vector<PlaceSum> live;           ///< by place, most bytes first
  std::vector<SizeClassLoss> rounding;  ///< most lost first; none where nothing is
  std::vector<PoolRow> pools;           ///< by pool, stream and size
  std::vector<PhasePeak> phases;        ///< in order of their first beginning

  /// What the allocator may have at all: `room`, or less by a limit.
  std::optional<Bytes> allowance() const;
  /// Bytes of it that would be spare with the request served and no byte wasted; negative: missing.
  std::int64_t spare() const;
};

/// Why one device of a recording needed what it needed.
struct ExplainedDevice {
  TraceSummary trace;
  std::optional<VerifyRun> model_check;
  std::string strategy;                 ///< whose memory it is; empty: as recorded
  std::string conf;                     ///< the recorded setting
  std::vector<std::string> pool_names;  ///< by index; the default pool is empty
  std::vector<std::uint64_t> streams;   ///< handles, by index
  std::vector<std::string> remarks;     ///< sentences without which it would mislead
  Explanation explanation;
  std::optional<TuneResult> tuned;  ///< up to the event, on the same room
  LateVerdict late = {};            ///< what a late start leaves of its recommendation
};

/// Why the devices of recordings needed what they needed.
struct ExplainAnswer {
  std::vector<ExplainedDevice> devices;
  bool interrupted = false;  ///< there would have been more
};

/// Explains every device of every recording in turn. Throws UsageError where the question does not
/// fit one of them.
ExplainAnswer answer(const Inputs& inputs, const ExplainQuestion& question, const Control& control);

}  // namespace memreplay
