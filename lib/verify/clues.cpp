#include <algorithm>

#include "core/bytes_of.hpp"
#include "trace/recorded_levels.hpp"
#include "verify/verification.hpp"

namespace memreplay {

// What the recording does not state shows itself where a model with wrong assumptions leaves it.
void Verification::gather_clues(const Group& group) {
  for (std::size_t i = group.from; i < group.to; ++i) {
    const PoolIndex pool = trace_.lane(i).pool;
    if (is_request(trace_.ops[i]) && pool != 0) clues_.pools.push_back(pool);
    if (is_driver_event(trace_.ops[i])) clues_.addresses.push_back(trace_.addresses[i]);
  }
  clues_.addresses.push_back(trace_.addresses[problem_->event]);
  if (contradiction_) clues_.addresses.push_back(contradiction_->address);
  if (settings_.garbage_collection_threshold > 0) clues_.threshold = possible_threshold(group);

  // Reservations never shrink as the device grows: halving finds the largest device whose are short
  // enough.
  if (const auto longest = longest_reservation(group)) {
    Bytes low = 0;
    Bytes high = assumptions_.device_total;
    while (low + 1 < high) {
      const Bytes middle = low + (high - low) / 2;
      const Bytes length = torch::reservation_size(settings_, middle, longest->granule);
      (length <= longest->length ? low : high) = middle;
    }
    if (low >= once_held_) clues_.device_total = low;
  }
}

// How long the reservation is at most that the model takes for longer.
std::optional<Verification::ReservationBound> Verification::longest_reservation(
    const Group& group) {
  // The model would grow it where the recorded allocator began another one: it ended before the
  // bytes that were missing.
  if (contradiction_ && contradiction_->op == Op::segment_map) {
    const auto range = model_.allocator->reservation_at(contradiction_->address);
    if (!range) return std::nullopt;
    return ReservationBound{contradiction_->address - range->address +
                                round_up(contradiction_->size, range->granule) - range->granule,
                            range->granule};
  }
  // The model's search passed over a block that can grow so far, the recorded one stayed at it.
  const bool on_a_copy = group.has_driver_events || settings_may_change(group);
  if (!misplaced_) return std::nullopt;
  const Address address = trace_.addresses[problem_->event];
  // What was mapped for it did not join the free memory in front: a reservation begins there.
  for (std::size_t i = group.tail; i < group.to; ++i) {
    if (trace_.ops[i] != Op::segment_map || trace_.addresses[i] != address) continue;
    const auto range = model_.allocator->reservation_at(address);
    if (!range || range->address == address) break;
    return ReservationBound{address - range->address, range->granule};
  }
  if (on_a_copy) return std::nullopt;
  model_.allocator->free(*misplaced_, {});
  const auto block = model_.allocator->growing_block_at(address, clues_.addresses.front());
  const auto range = model_.allocator->reservation_at(address);
  if (!block || !range || block->longest >= block->tail) return std::nullopt;
  return ReservationBound{block->end - range->address + block->longest, range->granule};
}

// Tries every number of rounds that garbage collection could have made in this group. A round is
// not stopped when enough is collected, so all thresholds between two sums of rounds decide alike.
std::optional<Clues::Threshold> Verification::possible_threshold(const Group& group) {
  if (!group.has_driver_events) {
    // Nothing was collected: the threshold is at or above what was held.
    RecordedLevels levels(trace_);
    for (std::size_t i = 0; i < group.from; ++i) levels.play(i);
    return Clues::Threshold{levels.reserved(), UINT64_MAX};
  }
  const std::optional<Divergence> problem = problem_;
  const std::optional<ScriptEntry> contradiction = contradiction_;
  const Reading reading = result_.reading;
  const Model base = model_.fork();
  Model noticed = model_.fork();
  for (std::size_t i = group.tail; i < group.to; ++i) {
    if (trace_.ops[i] == Op::free_completed) step(noticed, i, {});
  }
  const auto held = static_cast<Bytes>(base.allocator->statistics().reserved_bytes.current());
  std::optional<Clues::Threshold> found;
  Clues::Threshold range{held, UINT64_MAX};
  Bytes reclaimed = 0;  // by the rounds that a threshold in `range` leads to
  while (true) {
    Model tried = base.fork();
    tried.allocator->set_memory_limit(
        limit_for_threshold(range.high - 1, settings_.garbage_collection_threshold));
    if (explain_tail(group, tried)) {
      found = Clues::Threshold{range.low, found ? found->high : range.high};
    } else if (found) {
      break;
    }
    Bytes next = 0;
    for (const Bytes size : noticed.allocator->collectable(reclaimed + 1)) next += size;
    if (next <= reclaimed) {
      // Nothing more can be collected: lower thresholds decide as this one.
      if (found && found->low == range.low) found->low = 0;
      break;
    }
    range = {held - next, held - reclaimed};
    reclaimed = next;
  }
  model_ = base.fork();
  problem_ = problem;
  contradiction_ = contradiction;
  result_.reading = reading;
  return found;
}

Bytes limit_for_threshold(Bytes threshold, double garbage_collection_threshold) {
  constexpr double kEndless = 1e18;
  const double limit = static_cast<double>(threshold) / garbage_collection_threshold;
  if (limit >= kEndless) return bytes_of(kEndless);
  // Rounding may end a byte beside it.
  const auto starts = [&](Bytes bytes) {
    return bytes_of(garbage_collection_threshold * static_cast<double>(bytes));
  };
  // The lowest limit for which it starts above `bytes`; where the share is tiny, many do alike.
  const auto lowest_above = [&](Bytes bytes) {
    Bytes low = 0, high = bytes_of(2 * kEndless);
    while (low < high) {
      const Bytes middle = low + (high - low) / 2;
      if (starts(middle) > bytes) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const Bytes found = bytes_of(limit);
  if (starts(found) > threshold) return lowest_above(threshold) - 1;
  if (starts(found) == threshold || threshold == 0) return found;
  const Bytes lowest = lowest_above(threshold - 1);
  return starts(lowest) > threshold ? lowest - 1 : lowest;
}

}  // namespace memreplay
