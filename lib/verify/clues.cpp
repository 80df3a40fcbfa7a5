#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/units.hpp"
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

bool Verification::play_tail(const Group& group) {
  if (explain_tail(group, model_)) return true;
  return settings_may_change(group) && explain_by_other_settings(group);
}

// The tail of a group belongs to one call of malloc, perhaps after an empty_cache. The first
// explanation that fits is taken; the problem told is that of the first that does not.
bool Verification::explain_tail(const Group& group, const Model& base) {
  std::size_t completions = 0;
  for (std::size_t i = group.tail; i < group.to; ++i) {
    completions += trace_.ops[i] == Op::free_completed;
  }
  const std::vector<ScriptEntry> script = script_of(group.tail, group.to);
  std::size_t releases = 0;
  while (releases < script.size() && returns_memory(script[releases].op)) ++releases;
  if (!group.ends_in_request && script.empty()) {
    return try_tail(group, base, script, {completions, 0});
  }
  // The first try is always made.
  bool first = true;
  const auto explained_by = [&](const Explanation& explanation) {
    if (!std::exchange(first, false) && !may_try_again(group, base)) return false;
    return try_tail(group, base, script, explanation);
  };
  // A device that once held more did not refuse for want of memory.
  for (const bool plausible : {true, false}) {
    // Malloc first notices completions, later its synchronisation makes the others; where the ones
    // end is not recorded. Without any release all are taken for noticed.
    for (std::size_t early = completions + 1; group.ends_in_request && early-- > 0;) {
      if (explained_by({early, 0, plausible})) return true;
      if (releases == 0 || work_left_ == 0) break;
    }
    if (group.ends_in_request && assumptions_.prefer_collection) continue;
    // Else an empty_cache came first and made all completions. Releases that it did not make are
    // malloc's; without a request there is no malloc to make them.
    for (std::size_t emptied = releases; emptied > 0; --emptied) {
      if (explained_by({completions, emptied, plausible})) return true;
      if (!group.ends_in_request || work_left_ == 0) break;
    }
  }
  if (!problem_) {
    problem_ = {group.tail, "the recorded segment releases", "others", "no call explains them"};
  }
  return false;
}

// A free that waited, and that the request's own synchronisation completed, looks like one at once
// where nothing stands between; and without any release explain_tail takes all for noticed.
std::size_t Verification::first_that_may_have_waited(const Group& group) const {
  if (!group.ends_in_request) return group.to;
  const auto releases = [&](std::size_t i) { return returns_memory(trace_.ops[i]); };
  bool released = false;
  for (std::size_t i = group.tail; i < group.to; ++i) released |= releases(i);
  if (!released && trace_.ops[group.to - 1] != Op::oom) return group.to;
  if (group.tail >= group.from + 2 && trace_.completes_at_once(group.tail - 2)) {
    return group.tail - 1;
  }
  if (released) return group.to;
  std::size_t first = group.tail;
  while (first < group.to && trace_.ops[first] != Op::free_completed) ++first;
  return first;
}

bool Verification::explain_by_waiting_frees(const Group& group, std::size_t first) {
  Group other = group;
  other.tail = std::min(first, group.tail);
  if (!play_before_tail(other)) return false;
  std::size_t completions = 0;
  for (std::size_t i = other.tail; i < group.to; ++i) {
    completions += trace_.ops[i] == Op::free_completed;
  }
  const std::vector<ScriptEntry> script = script_of(other.tail, group.to);
  for (const bool plausible : {true, false}) {
    for (std::size_t early = completions; early-- > 0;) {
      if (!may_try_again(other, model_)) return false;
      if (try_tail(other, model_, script, {early, 0, plausible})) return true;
    }
  }
  return false;
}

// A try copies the model, and plays the events.
bool Verification::may_try_again(const Group& group, const Model& base) {
  const torch::Statistics& now = base.allocator->statistics();
  const auto blocks = static_cast<std::uint64_t>(now.blocks.active() + now.segment.current() +
                                                 now.inactive_split.current());
  work_left_ -= std::min(work_left_, blocks + (group.to - group.tail));
  if (work_left_ == 0 && result_.reason.empty()) {
    result_.reason =
        fmt::format("too many possible explanations of event {} to try all", group.to - 1);
  }
  return work_left_ > 0;
}

bool Verification::try_tail(const Group& group, const Model& base,
                            std::span<const ScriptEntry> script, const Explanation& explanation) {
  Model model = base.fork();
  const std::size_t calls_before = result_.reading.calls.size();
  const bool allocates = group.ends_in_request && trace_.ops[group.to - 1] == Op::allocate;
  const Slot slot = allocates ? trace_.slots[group.to - 1] : 0;
  const Handle handle_before = allocates ? handles_[slot] : kNoHandle;
  std::vector<Handle> late;  // the request may take the slot of one that it lets complete
  std::size_t early = explanation.early;
  std::size_t first_driver_event = group.to;
  std::vector<Deferral> deferrals;
  std::uint64_t doubtful = 0;  // the synchronisation's, if the request comes to one
  for (std::size_t i = group.tail; i < group.to; ++i) {
    if (is_driver_event(trace_.ops[i])) first_driver_event = std::min(first_driver_event, i);
    if (trace_.ops[i] != Op::free_completed || handles_[trace_.slots[i]] == kNoHandle) continue;
    if (early > 0) {
      --early;
      step(model, i, {});
    } else {
      late.push_back(handles_[trace_.slots[i]]);
    }
    // An empty_cache of the program synchronises under any settings; what completed by malloc's own
    // synchronisation may come later under others.
    const bool noticed = i < first_driver_event && late.empty();
    if (explanation.emptied > 0) continue;
    if (noticed) {
      ++doubtful;
    } else {
      deferrals.push_back({i, UINT64_MAX});
    }
  }
  const std::span<const ScriptEntry> own = script.subspan(explanation.emptied);
  bool same = explanation.emptied == 0 ||
              empty_cache(model, script.first(explanation.emptied), first_driver_event);
  if (same && group.ends_in_request) {
    const auto held = static_cast<Bytes>(model.allocator->statistics().reserved_bytes.current());
    const std::uint64_t syncs = model.allocator->statistics().num_sync_all_streams;
    release_pools(model, own, first_driver_event, trace_.lane(group.to - 1).pool);
    same = step(model, group.to - 1, own);
    if (model.allocator->statistics().num_sync_all_streams == syncs) doubtful = 0;
    Bytes refused = model.device->refused();
    // All of the request for a new reservation; a limit is compared with all of it even where a
    // part is mapped already.
    const bool limited = refused > 0 && settings_.per_process_memory_fraction < 1;
    if (limited || model.device->refused_reservation()) {
      refused = std::max(refused, trace_.sizes[group.to - 1]);
    }
    if (explanation.plausible && refused > 0 && held + refused <= once_held_) same = false;
  }
  if (!same) {
    result_.reading.calls.resize(calls_before);
    if (allocates) handles_[slot] = handle_before;
    return false;
  }
  for (const Handle block : late) model.allocator->complete_free(block);
  result_.reading.released_memory |= std::ranges::any_of(own, returns_memory, &ScriptEntry::op);
  result_.reading.doubtful_completions += doubtful;
  auto& forced = result_.reading.deferrals;
  forced.insert(forced.end(), deferrals.begin(), deferrals.end());
  model_ = std::move(model);
  return true;
}

}  // namespace memreplay
