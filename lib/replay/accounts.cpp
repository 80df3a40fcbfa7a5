#include "replay/accounts.hpp"

#include <limits>

namespace memreplay {
namespace {

double ratio_above(Bytes whole, Bytes part) {
  return whole == 0 ? 0 : 1 - static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

bool Accounts::begin_measuring() {
  metrics_ = {};
  tally_ = {.requested = tally_.requested, .allocated = tally_.allocated};
  usage_before_ = device_.usage();
  strategy_before_ = strategy_.usage();
  // What the strategy took when it was made belongs to a run from the first event on.
  if (options_.device_seconds && options_.measuring.from > 0) {
    seconds_before_ = *options_.device_seconds;
  }
  tally_.highest_held = device_.usage().peak_held;
  note_allocated();
  return note_reserved(device_.usage().held);
}

void Accounts::move_out(Bytes allocated) {
  ++metrics_.moved_out_blocks;
  metrics_.moved_out += allocated;
  tally_.allocated -= allocated;
}

void Accounts::note_served_after_all(Bytes requested) {
  metrics_.peak_asked = std::max(metrics_.peak_asked, tally_.requested + requested);
  ++metrics_.recorded_ooms_served;
}

bool Accounts::note_reserved(Bytes reserved) {
  if (reserved <= tally_.peak_reserved) return false;
  tally_.peak_reserved = reserved;
  tally_.note_fuller(strategy_.free_space());
  return true;
}

void Accounts::note_oom(std::uint64_t event, const Request& request, OomPlace::Told told) {
  ++metrics_.ooms;
  if (metrics_.first_oom) return;
  const FreeSpace space = strategy_.free_space();
  const bool is_known = told == OomPlace::Told::replayed;
  const Bytes outside = is_known ? std::min(device_.free_bytes(), space.obtainable) : 0;
  metrics_.first_oom = OomPlace{event,
                                request.size,
                                outside + space.total,
                                std::max(space.largest, outside),
                                tally_.requested,
                                told};
}

DeviceUsage Accounts::calls_since_measuring() const {
  // What the strategy took when it was made belongs to a run from the first event on.
  DeviceUsage made = options_.measuring.from == 0 ? built_ : DeviceUsage{};
  made.allocs += usage_.allocs - usage_before_.allocs;
  made.frees += usage_.frees - usage_before_.frees;
  made.maps += usage_.maps - usage_before_.maps;
  made.unmaps += usage_.unmaps - usage_before_.unmaps;
  return made;
}

RunSoFar Accounts::so_far() const {
  const DeviceUsage made = calls_since_measuring();
  return {metrics_.ooms, strategy_.usage().oom_retries - strategy_before_.oom_retries,
          tally_.peak_reserved, made.allocs + made.frees + made.maps + made.unmaps};
}

EventState Accounts::state_after(std::uint64_t event,
                                 const std::optional<Placement>& concerned) const {
  return {event,
          concerned,
          tally_.requested,
          tally_.allocated,
          usage_.held,
          tally_.peak_reserved,
          metrics_.ooms};
}

RunMetrics Accounts::finish(double seconds) const {
  RunMetrics m = metrics_;
  const StrategyUsage own = strategy_.usage();
  const DeviceUsage made = calls_since_measuring();
  m.events = tally_.events;
  m.allocs = tally_.requests;
  m.peak_requested = tally_.peak_requested;
  m.peak_asked = std::max(m.peak_asked, tally_.peak_requested);
  m.peak_allocated = tally_.peak_allocated;
  m.peak_reserved = tally_.peak_reserved;
  m.gap_at_peak_reserved = tally_.peak_reserved - std::min(tally_.peak_reserved, tally_.fullest);
  m.external_fragmentation =
      ratio_above(tally_.space_at_fullest.total, tally_.space_at_fullest.largest);
  m.end_requested = tally_.requested;
  m.end_allocated = tally_.allocated;
  m.end_reserved = usage_.held;
  // Blocks that are moved out still count as requested, which says nothing of waste.
  m.internal_fragmentation = m.moved_out_blocks != 0
                                 ? std::numeric_limits<double>::quiet_NaN()
                                 : ratio_above(m.peak_allocated, tally_.requested_at_peak);
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
  m.segments_peak = usage_.peak_regions;
  m.segments_end = usage_.regions;
  m.replay_seconds = seconds;
  if (options_.device_seconds) {
    m.modelled_device_seconds = *options_.device_seconds - seconds_before_;
  }
  Testimony testimony = strategy_.testimony();
  m.counters = std::move(testimony.counters);
  m.remarks = std::move(testimony.remarks);
  return m;
}

}  // namespace memreplay
