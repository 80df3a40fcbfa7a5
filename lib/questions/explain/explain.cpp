#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "program/live_blocks.hpp"
#include "program/steps.hpp"
#include "program/summary.hpp"
#include "questions/explain/addresses.hpp"
#include "questions/explain/explained.hpp"
#include "questions/explain/phases.hpp"
#include "questions/explain/unfitted.hpp"

namespace memreplay {
namespace {

void add_up(const Moment& moment, Explanation& e) {
  e.unplaced = moment.unplaced;
  e.live_blocks = moment.live.size();
  for (const LiveBlock& block : moment.live) e.live_requested += block.requested;
  std::map<std::tuple<PoolIndex, StreamIndex, bool>, PoolRow> rows;
  for (const SegmentInfo& segment : moment.memory.segments) {
    PoolRow& row = rows[{segment.pool, segment.stream, segment.small_pool}];
    row.pool = segment.pool;
    row.stream = segment.stream;
    row.small_pool = segment.small_pool;
    ++row.segments;
    row.reserved += segment.size;
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::allocated) row.allocated += block.size;
      if (block.state == BlockState::pending) row.pending += block.size;
      if (block.state != BlockState::free) continue;
      row.free += block.size;
      row.largest_free = std::max(row.largest_free, block.size);
    }
  }
  for (const auto& [key, row] : rows) {
    e.pools.push_back(row);
    e.segments += row.segments;
    e.reserved += row.reserved;
    e.live_allocated += row.allocated;
    e.pending += row.pending;
    e.free_inside += row.free;
    e.largest_free = std::max(e.largest_free, row.largest_free);
  }
}

std::vector<SizeClassLoss> rounding_of(const Moment& moment) {
  std::map<Slot, Bytes> requested;
  for (const LiveBlock& block : moment.live) requested[block.slot] = block.requested;
  std::map<int, SizeClassLoss> classes;
  for (const SegmentInfo& segment : moment.memory.segments) {
    for (const BlockInfo& block : segment.blocks) {
      const auto found = requested.find(block.slot);
      if (block.state != BlockState::allocated || found == requested.end()) continue;
      SizeClassLoss& c = classes[static_cast<int>(std::bit_width(found->second))];
      c.from = std::bit_floor(found->second);
      ++c.blocks;
      c.requested += found->second;
      c.allocated += std::max(block.size, found->second);
    }
  }
  std::vector<SizeClassLoss> losses;
  for (const auto& [width, loss] : classes) {
    if (loss.lost() > 0) losses.push_back(loss);
  }
  std::ranges::stable_sort(losses, std::greater{}, &SizeClassLoss::lost);
  return losses;
}

// PyTorch's message names this size: "Tried to allocate 760.00 MiB".
Bytes asked_of_device(Bytes request, const ExplainOptions& options) {
  if (!options.settings || options.settings->expandable_segments) return request;
  return torch::get_allocation_size(request, options.settings->large_segment_size);
}

void note_request(const Trace& trace, const Places& places, const ExplainOptions& options,
                  Explanation& e) {
  const std::uint64_t event = *e.event;
  const StreamPool lane = trace.lane(event);
  e.stream = lane.stream;
  e.pool = lane.pool;
  e.requested = trace.sizes[event];
  e.asked = asked_of_device(e.requested, options);
  const Asker asker = asker_of(trace, event);
  if (asker.known()) e.place = places.name_of(asker);
}

Bytes kept_whole(const Moment& moment, Bytes split_limit) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : moment.memory.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free && block.size >= split_limit) sum += block.size;
    }
  }
  return sum;
}

/// A gap of this part of the reserved peak is to be explained.
constexpr Bytes kFarAbove = 10;

bool refuses(const Curves& curves) { return curves.start_refused || !curves.ooms.empty(); }

void choose_moment(const Subject& subject, const Curves& curves, const At& at, Explanation& e) {
  using Moment = Explanation::Moment;
  switch (at.kind) {
    case At::Kind::event:
      e.moment = Moment::event;
      e.event = at.event;
      return;
    case At::Kind::reserved_peak:
      e.moment = Moment::reserved_peak;
      e.event = e.reserved_peak.event;
      return;
    case At::Kind::oom:
      if (!refuses(curves)) {
        throw UsageError(fmt::format("--at oom: no request fails in {} {}",
                                     subject.recording().path, gpu_label(subject.trace().gpu)));
      }
      break;
    case At::Kind::usual:
      if (refuses(curves)) break;
      if (!e.shows_requests) {
        e.moment = subject.trace().stated.at_peak ? Moment::peak : Moment::end;
        if (subject.trace().size() > 0) e.event = subject.trace().size() - 1;
        return;
      }
      [[fallthrough]];
    case At::Kind::peak:
      e.moment = Moment::peak;
      e.event = e.live_peak.event;
      return;
  }
  e.moment = Moment::oom;
  if (!curves.start_refused) e.event = curves.ooms.front();
}

// Whether the refused request lacked nothing but addresses: memory was free for it, no known limit
// was reached, and the reservation that it needed is beyond the address space. What else lies
// there, segments of other processes for one, is in no recording: without a stated size half of it
// is enough.
bool lacks_addresses(const Explanation& e, const Moment& moment, const ExplainOptions& options) {
  const AddressUse& use = *e.addresses;
  if (!use.needed || moment.limited) return false;
  const bool small_pool = e.requested <= torch::kSmallSize;
  const Bytes granule = small_pool ? torch::kSmallBuffer : options.settings->large_segment_size;
  if (moment.device_free < round_up(e.requested, granule)) return false;
  const Bytes enough = options.address_space ? use.limit : use.limit / 2;
  return use.too_short || use.reserved + *use.needed > enough;
}

void note_addresses(const Subject& subject, const Moment& moment, const ExplainOptions& options,
                    Explanation& e) {
  if (!options.settings) return;
  std::optional<Bytes> total = options.reserved_for;
  const bool at_least = !total;
  if (at_least) total = e.room.value_or(e.reserved_peak.reserved);
  e.addresses =
      address_use(subject.recording(), subject.trace(), moment, *options.settings, *total);
  if (e.at_oom) {
    const StreamPool lane{.stream = e.stream, .pool = e.pool};
    const auto needed = reservation_for(lane, e.requested, moment, *options.settings, *total);
    if (needed && !e.addresses) e.addresses.emplace();
    if (e.addresses) e.addresses->needed = needed;
    if (needed) e.addresses->too_short = *needed < e.requested;
  }
  if (!e.addresses) return;
  e.addresses->at_least = at_least;
  e.addresses->limit = options.address_space.value_or(kProcessAddresses);
  if (!e.at_oom || !lacks_addresses(e, moment, options)) return;
  e.cause = Cause::address_space;
  e.allowed = UINT64_MAX;  // none that anybody set
}

}  // namespace

Bytes Explanation::gap() const {
  const Bytes most = std::max(reserved, reserved_peak.reserved);
  return most - std::min(most, live_allocated);
}

std::optional<Bytes> Explanation::allowance() const {
  if (!room) return std::nullopt;
  return reserved + std::min(allowed, device_free);
}

std::int64_t Explanation::spare() const {
  if (!room) return 0;
  return static_cast<std::int64_t>(*allowance()) -
         static_cast<std::int64_t>(live_requested + requested);
}

Refusal Explanation::refusal() const {
  return {.event = at_oom ? event : std::nullopt,
          .live = live_requested,
          .allocated = live_allocated,
          .requested = requested,
          .device_free = device_free,
          .room = room.value_or(0),
          .allowance = allowance().value_or(0),
          .total = total,
          .cause = cause};
}

Explanation explain(const Subject& subject, const MomentSource& source,
                    const ExplainOptions& options) {
  const Trace& trace = subject.trace();
  const Curves curves = source.curves();
  Explanation e;
  e.live_peak = curves.peaks.live();
  e.reserved_peak = curves.peaks.reserved();
  e.fails = refuses(curves);
  e.retries = curves.retries;
  e.shows_requests = requests_anything(trace);
  choose_moment(subject, curves, options.at, e);
  e.at_oom = e.event && std::ranges::binary_search(curves.ooms, *e.event);
  const bool refused = e.at_oom || e.moment == Explanation::Moment::oom;
  const Moment moment =
      e.at_oom ? source.refused_at(*e.event) : source.before(e.event ? *e.event + 1 : 0);
  add_up(moment, e);
  if (e.event) e.step = steps_of(subject.recording(), trace).of(*e.event);
  e.total = options.total;
  e.by = options.by;
  const Places places(subject.recording(), options.by);
  if (e.at_oom) note_request(trace, places, options, e);
  if (e.at_oom && options.unknown_size && trace.ops[*e.event] == Op::oom) {
    e.cause = Cause::unknown;
  } else if (refused) {
    e.device_free = moment.device_free;
    e.room = e.reserved + e.device_free;
    e.allowed = moment.allowed;
    e.cause = e.refusal().cause_by_sizes();
  } else if (!e.shows_requests) {
    e.cause = Cause::unknown;
  }
  note_addresses(subject, moment, options, e);
  e.pins = pins_of(moment, places, e.pool,
                   options.settings ? options.settings->large_segment_size : torch::kLargeBuffer);
  if (options.settings) e.kept_whole = kept_whole(moment, options.settings->max_split_size);
  e.live = by_place(moment.live, places);
  if (options.tree) e.tree = call_tree(moment.live, places);
  if (options.stacks) {
    e.stacks = stack_profile(subject.recording(), trace, places, moment.live, e.event);
  }
  e.rounding = rounding_of(moment);
  if (e.cause == Cause::none && e.gap() >= e.reserved_peak.reserved / kFarAbove) {
    e.unfitted = unfitted_requests(trace, places, curves, e.reserved_peak.event);
  }
  std::vector<Phase> phases = options.by_phase ? phases_or_steps(subject.recording(), trace)
                                               : annotated_phases(subject.recording(), trace);
  phases.insert(phases.end(), options.phases.begin(), options.phases.end());
  e.phases = phase_peaks(phases, curves);
  e.by_phase = options.by_phase;
  if (options.by_phase) note_uses(trace, places, source, curves, e.phases);
  return e;
}

}  // namespace memreplay
