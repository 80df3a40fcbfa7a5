#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "verify/verification.hpp"

namespace memreplay {

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
    result_.reason = fmt::format("not all that could explain event {} was tried: there is too much",
                                 group.to - 1);
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
