#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/oom_message.hpp"
#include "core/peaks.hpp"
#include "core/request.hpp"
#include "program/facts.hpp"
#include "program/verdict.hpp"
#include "questions/info/answer.hpp"
#include "questions/settings/result.hpp"
#include "run/answer.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

/// A moment of a run.
struct At {
  enum class Kind {
    usual,          ///< the first OOM; where none was, the live peak
    oom,            ///< the first request that was not served
    peak,           ///< most is live
    reserved_peak,  ///< the first moment with most live, among those with most reserved
    event,          ///< right after it
  };
  Kind kind = Kind::usual;
  std::uint64_t event = 0;
};

/// Why did the devices of recordings need what they needed?
struct ExplainQuestion {
  std::optional<StrategySpec> strategy;  ///< whose memory; unset: as recorded, where that shows
  Setup setup;                           ///< the release, the start, and the device
  At at;                                 ///< the moment that is looked at
  std::vector<Phase> phases;             ///< beside those that recordings annotate
  PlaceBy by = PlaceBy::place;           ///< what counts as a place
  bool tree = false;                     ///< who called the places
  bool stacks = false;                   ///< memory by whole stacks
  bool by_phase = false;                 ///< who holds most at the peak of each phase, or step
  bool growth = false;                   ///< what is live after each step instead of why it failed
  std::size_t rows = 10;                 ///< rows of each table of the text
  /// Settings to try. Unset: for fragmentation as many as `tune` tries, else 200, fewer for long
  /// recordings.
  std::optional<std::uint64_t> runs;
  bool among_others = false;  ///< the recording is one of several that are asked about
};

struct Control;
struct ExplainQuestion;
class Inputs;

/// Free memory that cannot be returned to the device because live blocks lie beside it, counted for
/// the code place of the oldest block of its segment.
struct Pin {
  std::string place;
  Bytes pinned = 0;
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;             ///< live ones of this place in these segments
  std::optional<std::uint64_t> oldest;  ///< event of its oldest block; unset: from before the trace
};

struct Pins {
  std::vector<Pin> by_place;  ///< the oldest first
  Bytes pinned = 0;           ///< their sum
  Bytes returnable = 0;       ///< free memory that could be returned: whole segments and granules
};

/// Requests of one call site for which more was reserved although as much was free inside.
struct UnfittedRequests {
  std::string place;
  std::uint64_t requests = 0;
  Bytes reserved = 0;  ///< for them, and still held at the reserved peak
  Bytes largest = 0;   ///< the largest of these requests
  Bytes free = 0;      ///< the most that was free before one of them
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

/// What an allocator has at the live peak of a phase.
struct PhaseUse {
  Bytes reserved = 0;
  Bytes allocated = 0;
  PlaceSum most;  ///< who holds most; without a name: nothing is live

  Bytes waste() const { return reserved - std::min(reserved, allocated); }
};

/// The peaks of all spans of one name.
struct PhasePeak {
  std::string name;
  std::uint32_t depth = 0;
  std::uint64_t times = 0;
  Bytes peak_requested = 0;
  std::uint64_t peak_event = 0;  ///< at which most was requested
  Bytes peak_reserved = 0;
  std::optional<PhaseUse> use;  ///< where it is asked for
};

/// Addresses that expandable segments reserve, mapped or not, on all devices of a recording.
struct AddressUse {
  std::uint64_t reservations = 0;  ///< at least
  std::uint64_t streams = 0;       ///< that have any
  Bytes reserved = 0;
  std::optional<Bytes> needed;  ///< by the refused request, for one more
  bool too_short = false;       ///< one more would be too short for the request
  Bytes limit = 0;              ///< size of the address space
  bool at_least = false;        ///< the device may be larger, and with it all of these
};

/// The memory at a moment of a run, and why a request was not served there.
struct Explanation {
  /// Which moment it is.
  enum class Moment { oom, peak, reserved_peak, event, end };

  /// Without an OOM at the moment: some of what was there before the recording found no room.
  Cause cause = Cause::none;
  bool in_effect = false;  ///< a shortage, although the refused request would have fitted
  std::optional<RequestInRoom> too_much;  ///< the later request that makes it one, if any does
  Moment moment = Moment::peak;
  /// Memory is shown right after this event; at an OOM, after cached memory was released for the
  /// request. Unset: before the first event.
  std::optional<std::uint64_t> event;
  bool at_oom = false;         ///< the event is a refused request
  bool fails = false;          ///< some request of the run is refused, here or elsewhere
  std::uint64_t retries = 0;   ///< requests of the run for which memory was released first
  Peak live_peak;              ///< the first moment with most live
  Peak reserved_peak;          ///< the first moment with most live, among those with most reserved
  bool shows_requests = true;  ///< else nothing that was recorded could have failed
  std::uint64_t step = 0;      ///< the program's step, from 1; 0: unknown
  StreamIndex stream = 0;      ///< the request's
  PoolIndex pool = 0;
  std::string place;           ///< call site of the request
  Bytes requested = 0;         ///< the request; 0 where there is none
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
  std::optional<AddressUse> addresses;  ///< unset: no expandable segments
  Pins pins;
  PlaceBy by = PlaceBy::place;                ///< what counts as a place in the tables
  std::size_t rows = 10;                      ///< rows of each table of the text
  std::vector<PlaceSum> live;                 ///< by place, most bytes first
  std::optional<std::vector<CallNode>> tree;  ///< what is live, from the outermost callers
  std::optional<StackProfile> stacks;         ///< what is live, where it is asked for
  std::vector<SizeClassLoss> rounding;        ///< most lost first; none where nothing is
  std::vector<PoolRow> pools;                 ///< by pool, stream and size
  /// Why far more was reserved than live where nothing failed, up to the reserved peak.
  std::vector<UnfittedRequests> unfitted;
  std::vector<PhasePeak> phases;  ///< in order of their first beginning
  bool by_phase = false;          ///< they are what is asked for
  /// Requests that found no room in the steps before a recording that starts late.
  std::uint64_t refused_before = 0;

  /// Most reserved beyond what is allocated at the live peak, of which it is to be asked.
  Bytes gap() const;
  /// What the allocator may have at all: `room`, or less by a limit.
  std::optional<Bytes> allowance() const;
  /// Bytes of it that would be spare with the request served and no byte wasted; negative: missing.
  std::int64_t spare() const;
  /// The refused request; its `cause` as this says it.
  Refusal refusal() const;
};

/// A report that a program prints again and again: what was live in the first and in the newest.
struct ReportRow {
  std::uint64_t reports = 0;
  RoundedBytes first;
  RoundedBytes least;
  RoundedBytes most;
  std::int64_t per_report = 0;  ///< by which it grows from one to the next; 0: it does not
};

/// Processes that hold about as much each of one device, and little.
struct AlikeProcesses {
  std::uint64_t count = 0;
  RoundedBytes each;
  RoundedBytes all;
};

/// What a message says about why memory ran out.
struct ExplainedMessage {
  OomMessage message;
  Cause cause = Cause::none;         ///< none: it tells of no failure
  bool sure = true;                  ///< the verdict holds however the figures were rounded
  std::optional<std::int64_t> room;  ///< beyond what is live and the request; negative: missing
  std::optional<Bytes> others;       ///< on the device, beyond what the allocator reserves
  std::optional<Bytes> own_outside;  ///< held by its own process outside its allocator
  std::optional<ProcessUse> holder;  ///< another process, that holds most
  bool beyond_device = false;        ///< more is reserved than the device has
  std::vector<std::string> missing;  ///< figures without which there is no verdict
  std::optional<Bytes> asleep;       ///< reserved, but not held of the device by its process
  bool contradicts = false;          ///< more is free than the device has
  std::optional<AlikeProcesses> contexts;  ///< as of other ranks that touched the device
  std::optional<ReportRow> row;            ///< it is the newest of several
};

/// Why one device of a recording needed what it needed.
struct ExplainedDevice {
  TraceSummary trace;
  bool among_others = false;  ///< other devices or recordings are asked about too
  std::optional<VerifyRun> model_check;
  std::string strategy;                 ///< whose memory it is; empty: as recorded
  std::string conf;                     ///< the recorded setting
  std::vector<std::string> pool_names;  ///< by index; the default pool is empty
  std::vector<std::uint64_t> streams;   ///< handles, by index
  std::vector<std::string> remarks;     ///< sentences without which it would mislead
  DeviceSummary device;                 ///< on which it is looked at
  std::optional<StateBeyondDevice> state_beyond;
  std::string options;   ///< with which other commands look at the same: " --capacity 8GiB"
  bool finished = true;  ///< false: interrupted before it was known
  bool untold = false;   ///< under its settings a failure leaves no entry
  Explanation explanation;
  std::optional<TuneResult> tuned;  ///< on the same room
  LateVerdict late = {};            ///< what a late start leaves of its recommendation
  /// Instead of a recording: messages of a text, the worst first, whose figures `explanation` has.
  std::vector<ExplainedMessage> messages;
  std::optional<StepGrowth> growth;  ///< where it is asked for, or some call site grows
  bool asks_growth = false;          ///< then no setting is looked for
};

/// Why the devices of recordings needed what they needed.
struct ExplainAnswer {
  std::vector<ExplainedDevice> devices;
  bool interrupted = false;  ///< there would have been more
};

/// What is called while devices are explained; what is unset is not.
struct ExplainProgress {
  /// All is known but what a search for a setting finds, which may take long.
  std::function<void(const ExplainedDevice&)> on_explained;
  /// The search is over.
  std::function<void(const ExplainedDevice&)> on_searched;

  void explained(const ExplainedDevice& device) const {
    if (on_explained) on_explained(device);
  }
  void searched(const ExplainedDevice& device) const {
    if (on_searched) on_searched(device);
  }
};

/// Explains every device of every recording in turn. Throws UsageError where the question does not
/// fit one of them.
ExplainAnswer answer(const Inputs& inputs, const ExplainQuestion& question, const Control& control,
                     const ExplainProgress& progress = {});

}  // namespace memreplay
