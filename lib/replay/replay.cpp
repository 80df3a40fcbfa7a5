#include "replay/replay.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "replay/adopt_state.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kEventsBetweenChecks = 1 << 14;
/// On a device where a call may take a millisecond.
constexpr std::uint64_t kSlowEventsBetweenChecks = 1 << 6;
constexpr std::chrono::milliseconds kLongestSleep{50};

double ratio_above(Bytes whole, Bytes part) {
  return whole == 0 ? 0 : 1 - static_cast<double>(part) / static_cast<double>(whole);
}

class Replay {
 public:
  Replay(const Trace& trace, Strategy& strategy, DeviceModel& device, const ReplayOptions& options)
      : trace_(trace),
        strategy_(strategy),
        device_(device),
        options_(options),
        abilities_(strategy.abilities()),
        moved_out_(strategy.usage().moved_out),
        placed_(trace.slot_count) {
    note_next_reading_event();
  }

  ReplayResult run() {
    start();
    const std::uint64_t end = std::min<std::uint64_t>(options_.to, trace_.size());
    begin_measuring(0);
    for (const Request& request : unserved_at_start_) note_oom(0, request);
    for (std::uint64_t event = 0; event < end && result_.finished; ++event) {
      if (event == options_.from && event > 0) begin_measuring(event);
      if (event % events_between_checks_ == 0) check_in(event, end);
      if (options_.paced) wait_for(event);
      if (reading_event_ <= event) do_what_the_reading_says(event);
      prefetch(event);
      play(event);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    finish(took.count());
    return std::move(result_);
  }

 private:
  // What a strategy does for one request or free, timed where that is asked for.
  template <typename Call>
  auto timed(const Call& call) {
    if (options_.times == nullptr) return call();
    const OpTimer timer(*options_.times);
    return call();
  }

  // Which memory the next frees touch is in the trace; to wait for it costs more than all else.
  void prefetch(std::uint64_t event) const {
    constexpr std::uint64_t kFar = 12;
    constexpr std::uint64_t kNear = 5;
    if (event + kFar >= trace_.size()) return;
    const Slot far = trace_.slots[event + kFar];
    if (far != kNoSlot) __builtin_prefetch(&placed_[far]);
    if (abilities_.prefetch == nullptr) return;
    const Slot near = trace_.slots[event + kNear];
    if (trace_.ops[event + kNear] == Op::allocate || near == kNoSlot) return;
    if (placed_[near].handle != kNoHandle) abilities_.prefetch->prefetch(placed_[near].handle);
  }

  RunMetrics& metrics() { return result_.metrics; }

  void start() {
    if (options_.begin_with) return begin_elsewhere();
    if (trace_.start.segments.empty() || options_.start == StartMode::cold) {
      result_.started_exact = trace_.start.segments.empty();
      return;
    }
    if (options_.adopt_start && adopt()) return;
    result_.started_exact = false;
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free || block.requested == 0) continue;
        const Request request{scaled(block.requested, options_.scale), 0, segment.stream,
                              segment.pool};
        if (!place(0, block.slot, request)) {
          unserved_at_start_.push_back(request);
          continue;
        }
        if (block.state == BlockState::pending) request_free(0, block.slot, request.size);
        if (options_.observer) options_.observer->on_start_block(block.slot, placed_[block.slot]);
      }
    }
  }

  void begin_elsewhere() {
    result_.started_exact = false;
    result_.refused_before = options_.begin_with(strategy_, device_, placed_);
    began_ = std::chrono::steady_clock::now();
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free || block.requested == 0) continue;
        const Request request{block.requested, 0, segment.stream, segment.pool};
        if (placed_[block.slot].handle == kNoHandle) {
          unserved_at_start_.push_back(request);
        } else {
          note_placed_at_start(block, request);
        }
      }
    }
  }

  void note_placed_at_start(const BlockInfo& block, const Request& request) {
    const Placement& placement = placed_[block.slot];
    const bool pending = block.state == BlockState::pending;
    if (options_.witness) options_.witness->placed(0, request, placement);
    if (options_.observer) options_.observer->on_start_block(block.slot, placement);
    if (options_.witness && pending) options_.witness->free_requested(0, placement);
    if (pending) return;
    requested_ += block.requested;
    allocated_ += placement.size;
  }

  bool adopt() {
    if (!adopt_state(trace_.start, strategy_, device_, placed_)) return false;
    for (const SegmentInfo& segment : trace_.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::free) note_placed_at_start(block, {block.requested});
      }
    }
    return true;
  }

  // Counts from here on; what came before only led up to it.
  void begin_measuring(std::uint64_t event) {
    result_.metrics = {};
    usage_before_ = device_.usage();
    strategy_before_ = strategy_.usage();
    // What the strategy took when it was made belongs to a run from the first event on.
    if (options_.device_seconds && options_.from > 0) seconds_before_ = *options_.device_seconds;
    highest_held_ = device_.usage().peak_held;
    note_allocated();
    note_reserved(device_.usage().held);
    if (options_.observer) options_.observer->on_start(state_after(event, {}), strategy_);
  }

  EventState state_after(std::uint64_t event, const std::optional<Placement>& concerned) {
    return {event,
            concerned,
            requested_,
            allocated_,
            device_.usage().held,
            metrics().peak_reserved,
            metrics().ooms};
  }

  void check_in(std::uint64_t event, std::uint64_t end) {
    if (cancelled()) result_.finished = false;
    if (options_.progress) options_.progress(static_cast<double>(event) / static_cast<double>(end));
  }

  // The next event before which the program did something, or a deferred completion is due.
  void note_next_reading_event() {
    reading_event_ = UINT64_MAX;
    if (next_insertion_ < options_.insert_empty_cache.size()) {
      reading_event_ = options_.insert_empty_cache[next_insertion_];
    }
    if (options_.reading == nullptr) return;
    const auto& calls = options_.reading->calls;
    const auto& deferrals = options_.reading->deferrals;
    if (next_call_ < calls.size()) {
      reading_event_ = std::min(reading_event_, calls[next_call_].event);
    }
    if (next_deferral_ < deferrals.size()) {
      reading_event_ = std::min(reading_event_, deferrals[next_deferral_].event);
    }
    if (!deferred_.empty()) reading_event_ = std::min(reading_event_, deferred_.begin()->first);
  }

  void do_what_the_reading_says(std::uint64_t event) {
    while (!deferred_.empty() && deferred_.begin()->first <= event) {
      const Placement block = deferred_.begin()->second;
      deferred_.erase(deferred_.begin());
      if (options_.witness && block.size != 0) options_.witness->freed(event, block);
      timed([&] { strategy_.complete_free(block.handle); });
      if (moved_out_) note_moved_out();
      if (options_.observer) options_.observer->on_late_completion(event, block);
    }
    const auto& inserted = options_.insert_empty_cache;
    for (; next_insertion_ < inserted.size() && inserted[next_insertion_] <= event;
         ++next_insertion_) {
      strategy_.empty_cache();
      tell_of_waits(0);
    }
    if (options_.reading == nullptr) return note_next_reading_event();
    const auto& calls = options_.reading->calls;
    for (; next_call_ < calls.size() && calls[next_call_].event <= event; ++next_call_) {
      make(calls[next_call_]);
    }
    const auto& deferrals = options_.reading->deferrals;
    for (; next_deferral_ < deferrals.size() && deferrals[next_deferral_].event <= event;
         ++next_deferral_) {
      Placement& block = placed_[trace_.slots[event]];
      if (block.handle == kNoHandle) continue;
      deferred_.emplace(deferrals[next_deferral_].due, block);
      block.handle = kNoHandle;
    }
    note_next_reading_event();
  }

  void make(const ProgramCall& call) {
    switch (call.kind) {
      case ProgramCall::Kind::empty_cache:
        return empty_cache();
      case ProgramCall::Kind::end_pool:
        release(call.pool, options_.ignore_empty_cache ? PoolCache::kept : PoolCache::returned);
        return tell_of_waits(0);
      case ProgramCall::Kind::release_pool:
        return release(call.pool, PoolCache::kept);
    }
  }

  void release(PoolIndex pool, PoolCache cache) {
    if (abilities_.pools != nullptr) abilities_.pools->release_pool(pool, cache);
  }

  void empty_cache() {
    if (options_.ignore_empty_cache) return;
    strategy_.empty_cache();
    tell_of_waits(0);
  }

  void play(std::uint64_t event) {
    const Op op = trace_.ops[event];
    const Slot slot = trace_.slots[event];
    bool concerns_block = false;
    std::optional<Placement> served_after_all;
    switch (op) {
      case Op::allocate:
        concerns_block = allocate(event, slot);
        break;
      case Op::oom:
        served_after_all = issue_refused_request(event);
        break;
      case Op::free:
      case Op::free_requested:
      case Op::free_completed:
        concerns_block = placed_[slot].handle != kNoHandle;
        if (concerns_block) free(event, op, slot);
        break;
      case Op::empty_cache:
        empty_cache();
        break;
      case Op::marker:
        if (abilities_.steps != nullptr) abilities_.steps->marker();
        break;
      case Op::safe_frontier:
        if (abilities_.steps != nullptr) abilities_.steps->safe_frontier(trace_.sizes[event]);
        break;
      default:
        break;
    }
    metrics().events += !is_driver_event(op);
    if (options_.observer) {
      std::optional<Placement> concerned = served_after_all;
      if (concerns_block) concerned = placed_[slot];
      options_.observer->on_event(state_after(event, concerned), strategy_);
    }
  }

  // Only requests make a strategy hold more.
  void look_at_device() {
    const DeviceUsage& usage = usage_;
    if (usage.held <= metrics().peak_reserved && usage.peak_held <= highest_held_) return;
    note_reserved(std::max(usage.held, usage.peak_held > highest_held_ ? usage.peak_held : 0));
    highest_held_ = usage.peak_held;
  }

  bool place(std::uint64_t event, Slot slot, const Request& request) {
    const auto placement = timed([&] { return strategy_.allocate(request); });
    tell_of_waits(request.stream);
    if (moved_out_) note_moved_out();
    if (!placement) return false;
    if (options_.witness) options_.witness->placed(event, request, *placement);
    placed_[slot] = *placement;
    if (moved_out_) {
      slot_of_.resize(std::max<std::size_t>(slot_of_.size(), placement->handle + 1));
      slot_of_[placement->handle] = slot;
    }
    requested_ += request.size;
    allocated_ += placement->size;
    return true;
  }

  /// Of the request, or of the block freed.
  Bytes size_of(std::uint64_t event) const { return scaled(trace_.sizes[event], options_.scale); }

  Request request_of(std::uint64_t event) const {
    const Lane lane = trace_.lane(event);
    const std::uint8_t log2 = trace_.align_log2[event];
    Request request{size_of(event), log2 == 0 ? 0 : Bytes{1} << log2, lane.stream, lane.pool};
    if (says_more_) {
      if (!trace_.threads.empty()) request.thread = trace_.threads[event];
      if (!trace_.tags.empty()) request.tag = trace_.tags[event];
      if (!trace_.freed_before.empty()) request.freed_before = trace_.freed_before[event];
      if (!trace_.upper_end.empty()) request.upper_end = trace_.upper_end[event] != 0;
    }
    return request;
  }

  Giver giver_of(std::uint64_t event) const {
    return {trace_.lane(event).stream, trace_.threads.empty() ? 0 : trace_.threads[event]};
  }

  bool allocate(std::uint64_t event, Slot slot) {
    ++metrics().allocs;
    const Request request = request_of(event);
    if (request.size == 0) return false;
    const bool placed = place(event, slot, request);
    if (placed) {
      note_allocated();
    } else {
      note_oom(event, request);
    }
    look_at_device();
    return placed;
  }

  // A request that the recorded program was refused. Nothing is known of its life: where it is
  // served now, it is freed at once.
  std::optional<Placement> issue_refused_request(std::uint64_t event) {
    const Request request = request_of(event);
    if (request.size == 0) return std::nullopt;
    const auto placement = timed([&] { return strategy_.allocate(request); });
    tell_of_waits(request.stream);
    if (moved_out_) note_moved_out();
    if (placement) {
      metrics().peak_asked = std::max(metrics().peak_asked, requested_ + request.size);
      timed([&] { strategy_.free(placement->handle, {}); });
      ++metrics().recorded_ooms_served;
    } else {
      note_oom(event, request);
    }
    look_at_device();
    return placement;
  }

  // A synchronisation completes what was still pending; a witness cannot know by itself.
  void tell_of_waits(StreamIndex stream) {
    if (!options_.witness) return;
    const StrategyUsage usage = strategy_.usage();
    if (std::exchange(syncs_, usage.syncs) != usage.syncs) options_.witness->synchronised();
    const std::uint64_t before = std::exchange(stream_waits_, usage.stream_waits);
    if (before != usage.stream_waits) {
      options_.witness->stream_waited(stream, usage.stream_waits - before);
    }
  }

  void wait_for(std::uint64_t event) {
    const auto due =
        began_ + std::chrono::microseconds(trace_.times_us[event] - trace_.times_us.front());
    while (!cancelled()) {
      const auto left = due - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds{0}) return;
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLongestSleep));
    }
  }

  bool cancelled() const { return options_.cancelled && options_.cancelled->load(); }

  // Blocks that left the device: no longer charged there, their place may be given to others.
  void note_moved_out() {
    for (const Handle moved : *moved_out_) {
      Placement& block = placed_[slot_of_[moved]];
      if (options_.witness) options_.witness->moved_out(block);
      ++metrics().moved_out_blocks;
      metrics().moved_out += block.size;
      allocated_ -= std::exchange(block.size, 0);
    }
  }

  // A moved block needs room again before it is freed; where it finds none, the program stops.
  void note_returns(std::uint64_t event) {
    tell_of_waits(0);
    note_moved_out();
    const std::uint64_t unserved = strategy_.usage().unserved_returns;
    if (std::exchange(unserved_returns_, unserved) != unserved) {
      note_oom(event, {.size = size_of(event)});
    }
    look_at_device();
  }

  void request_free(std::uint64_t event, Slot slot, Bytes requested) {
    if (options_.witness && placed_[slot].size != 0) {
      options_.witness->free_requested(event, placed_[slot]);
    }
    strategy_.request_free(placed_[slot].handle);
    requested_ -= requested;
    allocated_ -= placed_[slot].size;
  }

  void free(std::uint64_t event, Op op, Slot slot) {
    const Placement block = placed_[slot];
    if (op == Op::free_requested) return request_free(event, slot, size_of(event));
    if (options_.witness && block.size != 0) options_.witness->freed(event, block);
    placed_[slot].handle = kNoHandle;
    if (op == Op::free_completed) {
      timed([&] { strategy_.complete_free(block.handle); });
    } else {
      requested_ -= size_of(event);
      allocated_ -= block.size;
      timed([&] { strategy_.free(block.handle, giver_of(event)); });
    }
    if (moved_out_) note_returns(event);
  }

  void note_allocated() {
    RunMetrics& m = metrics();
    m.peak_requested = std::max(m.peak_requested, requested_);
    m.peak_asked = std::max(m.peak_asked, requested_);
    if (allocated_ > m.peak_allocated) {
      m.peak_allocated = allocated_;
      requested_at_peak_ = requested_;
    }
  }

  void note_reserved(Bytes reserved) {
    RunMetrics& m = metrics();
    if (reserved <= m.peak_reserved) return;
    m.peak_reserved = reserved;
    m.gap_at_peak_reserved = reserved > allocated_ ? reserved - allocated_ : 0;
    const FreeSpace space = strategy_.free_space();
    m.external_fragmentation = ratio_above(space.total, space.largest);
    if (options_.hopeless && options_.hopeless(so_far())) result_.finished = false;
  }

  RunSoFar so_far() {
    const DeviceUsage made = calls_since_measuring();
    return {metrics().ooms, strategy_.usage().oom_retries - strategy_before_.oom_retries,
            metrics().peak_reserved, made.allocs + made.frees + made.maps + made.unmaps};
  }

  DeviceUsage calls_since_measuring() const {
    // What the strategy took when it was made belongs to a run from the first event on.
    DeviceUsage made = options_.from == 0 ? built_ : DeviceUsage{};
    made.allocs += usage_.allocs - usage_before_.allocs;
    made.frees += usage_.frees - usage_before_.frees;
    made.maps += usage_.maps - usage_before_.maps;
    made.unmaps += usage_.unmaps - usage_before_.unmaps;
    return made;
  }

  void note_oom(std::uint64_t event, const Request& request) {
    RunMetrics& m = metrics();
    ++m.ooms;
    if (!m.first_oom) {
      const FreeSpace space = strategy_.free_space();
      const Bytes outside = std::min(device_.free_bytes(), space.obtainable);
      m.first_oom = OomPlace{event, request.size, outside + space.total,
                             std::max(space.largest, outside), requested_};
    }
    if (options_.oom_report && result_.oom_report.empty() && abilities_.oom_report != nullptr) {
      result_.oom_report = abilities_.oom_report->oom_report(request);
    }
    if (options_.stop_at_oom) result_.finished = false;
  }

  void finish(double seconds) {
    RunMetrics& m = metrics();
    const DeviceUsage& usage = device_.usage();
    const StrategyUsage own = strategy_.usage();
    const DeviceUsage made = calls_since_measuring();
    m.end_requested = requested_;
    m.end_allocated = allocated_;
    m.end_reserved = usage.held;
    // Of blocks that are away only the request counts on, which says nothing of waste.
    m.internal_fragmentation = m.moved_out_blocks != 0
                                   ? std::numeric_limits<double>::quiet_NaN()
                                   : ratio_above(m.peak_allocated, requested_at_peak_);
    m.lower_bound = m.peak_allocated;
    m.device_allocs = made.allocs;
    m.device_frees = made.frees;
    m.device_maps = made.maps;
    m.device_unmaps = made.unmaps;
    m.oom_retries = own.oom_retries - strategy_before_.oom_retries;
    m.syncs = own.syncs - strategy_before_.syncs;
    m.stream_waits = own.stream_waits - strategy_before_.stream_waits;
    m.stall_seconds = own.stall_seconds - strategy_before_.stall_seconds;
    m.clairvoyant = own.clairvoyant;
    m.segments_peak = usage.peak_regions;
    m.segments_end = usage.regions;
    m.replay_seconds = seconds;
    if (options_.device_seconds) {
      m.modelled_device_seconds = *options_.device_seconds - seconds_before_;
    }
    Testimony testimony = strategy_.testimony();
    m.counters = std::move(testimony.counters);
    m.remarks = std::move(testimony.remarks);
  }

  const Trace& trace_;
  Strategy& strategy_;
  DeviceModel& device_;
  const ReplayOptions& options_;
  const Abilities abilities_;
  const std::vector<Handle>* moved_out_;
  std::vector<Slot> slot_of_;      ///< by handle; only of strategies that move blocks
  std::vector<Placement> placed_;  ///< by slot; no handle: not placed; size 0: it was moved out
  Bytes requested_ = 0;
  Bytes allocated_ = 0;
  Bytes requested_at_peak_ = 0;
  Bytes highest_held_ = 0;
  std::vector<Request> unserved_at_start_;    ///< of the blocks from before the recording
  std::uint64_t reading_event_ = UINT64_MAX;  ///< before it something in the reading is due
  std::size_t next_call_ = 0;
  std::size_t next_insertion_ = 0;
  std::size_t next_deferral_ = 0;
  std::multimap<std::uint64_t, Placement> deferred_;  ///< by the event before which they are due
  std::uint64_t unserved_returns_ = 0;                ///< seen so far
  std::uint64_t syncs_ = 0;         ///< of the strategy, as far as the witness was told
  std::uint64_t stream_waits_ = 0;  ///< likewise
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::uint64_t events_between_checks_ =
      options_.times || options_.paced ? kSlowEventsBetweenChecks : kEventsBetweenChecks;
  const DeviceUsage& usage_ = device_.usage();
  /// Its requests say more than size, alignment and where they come from.
  const bool says_more_ = !trace_.threads.empty() || !trace_.tags.empty() ||
                          !trace_.freed_before.empty() || !trace_.upper_end.empty();
  DeviceUsage built_ = device_.usage();  ///< before the first call
  DeviceUsage usage_before_;
  StrategyUsage strategy_before_;
  double seconds_before_ = 0;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const Trace& trace, Strategy& strategy, DeviceModel& device,
                    const ReplayOptions& options) {
  return Replay(trace, strategy, device, options).run();
}

}  // namespace memreplay
