#include "verify/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "core/torch_sizes.hpp"
#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"
#include "verify/scripted_device.hpp"
#include "verify/verdict.hpp"

namespace memreplay {
namespace {

// An OOM entry states what was free then; where that was enough, a limit refused and the device's
// size stays unknown.
/// The most that the recorded device is known to have had room for.
Bytes most_once_held(const Trace& trace, Bytes large_segment_size) {
  RecordedLevels levels(trace);
  Bytes largest = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    levels.play(i);
    if (trace.ops[i] != Op::oom) continue;
    const Bytes free = trace.addresses[i];
    if (free < torch::get_allocation_size(trace.sizes[i], large_segment_size)) {
      largest = std::max(largest, levels.reserved() + free);
    }
  }
  return std::max(largest, levels.peaks().reserved().reserved);
}

/// A conflict with the stated size of the device, at an event. `room` is what is for the allocator.
Divergence divergence_of(const SizeConflict& conflict, Bytes room, std::uint64_t event) {
  const std::string beside =
      fmt::format("{} held, and {} for the allocator", exact_size(conflict.held), exact_size(room));
  const std::string asked = fmt::format("{} from the device", exact_size(conflict.asked));
  const std::string full = "a full device";
  if (conflict.asked == 0) return {event, "what was there before the recording", full, beside};
  if (conflict.granted) return {event, asked, full, beside};
  return {event, full, asked, beside};
}

}  // namespace

Verification::Model Verification::Model::fork() const {
  Model copy{std::make_unique<ScriptedDevice>(*device), nullptr};
  copy.allocator = allocator->copy(*copy.device);
  return copy;
}

Verification::Verification(const Recording& recording, const Trace& trace,
                           const Assumptions& assumptions)
    : trace_(trace),
      assumptions_(assumptions),
      settings_(torch::settings_of(recording.settings, assumptions.release)),
      handles_(trace.slot_count, kNoHandle) {
  settings_.memory_limit = assumptions.memory_limit;
  settings_.request_padding = assumptions.request_padding;
  settings_.large_alignment = assumptions.large_alignment;
  result_.reading.large_alignment = assumptions.large_alignment;
  result_.reading.request_padding = assumptions.request_padding;
  model_ = new_model();
  model_.allocator->adopt(trace.start, handles_);
  hold(trace.start);
  if (assumptions_.resynchronise) recorded_state_.emplace(trace);
  result_.gpu = trace.gpu;
  result_.release = assumptions.release.text();
  result_.reading.pool_options = assumptions.pools;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    result_.allocs += trace.ops[i] == Op::allocate;
    result_.segment_events += is_driver_event(trace.ops[i]);
  }
  once_held_ = most_once_held(trace, settings_.large_segment_size);
}

Verification::Model Verification::new_model() const {
  Model model{std::make_unique<ScriptedDevice>(assumptions_.device_total, assumptions_.room),
              nullptr};
  model.allocator = torch::make_allocator(settings_, assumptions_.release,
                                          {.device = *model.device,
                                           .capacity = {},
                                           .pools = trace_.pools,
                                           .pool_options = assumptions_.pools});
  return model;
}

VerifyResult Verification::run() {
  std::size_t at = 0;
  bool goes_on = true;
  auto idle = assumptions_.idle_empty_caches.begin();
  auto call = assumptions_.settings_calls.begin();
  while (at < trace_.size() && goes_on) {
    const Group group = next_group(at);
    while (idle != assumptions_.idle_empty_caches.end() && *idle < group.from) ++idle;
    empties_idly_ = idle != assumptions_.idle_empty_caches.end() && *idle == group.to - 1;
    for (; call != assumptions_.settings_calls.end() && call->event < group.to; ++call) {
      model_.allocator->change_settings(call->settings);
      result_.reading.settings_calls.push_back(*call);
    }
    const bool same = play(group) && fits_the_device(group);
    if (same) {
      note_matched(group);
      note_block_size(group.to - 1);
    }
    if (!same && !result_.first_divergence) {
      result_.first_divergence = problem_;
      gather_clues(group);
    }
    if (recorded_state_) {
      for (std::size_t i = group.from; i < group.to; ++i) recorded_state_->play(i);
      if (same && trace_.ops[group.to - 1] == Op::allocate) {
        recorded_state_->note_size(trace_.slots[group.to - 1], placed_size_);
      }
    }
    if (!same) goes_on = assumptions_.resynchronise && resynchronise(group);
    at = group.to;
  }
  result_.verdict = !result_.first_divergence ? Verdict::exact
                    : goes_on                 ? Verdict::resynchronised
                                              : Verdict::diverged;
  count_retries();
  return std::move(result_);
}

void Verification::count_retries() {
  result_.reading.retries += model_.allocator->statistics().num_alloc_retries;
}

void Verification::note_block_size(std::size_t event) {
  if (trace_.ops[event] != Op::allocate) return;
  const Bytes padded = trace_.sizes[event] + assumptions_.request_padding;
  if (placed_size_ == torch::round_size(padded, {})) return;
  result_.reading.block_sizes.push_back({event, placed_size_});
}

Verification::Group Verification::next_group(std::size_t from) const {
  Group group{.from = from, .to = from, .tail = from};
  while (group.to < trace_.size()) {
    const std::size_t i = group.to++;
    const Op op = trace_.ops[i];
    group.has_driver_events |= is_driver_event(op);
    // The last thing that the program did itself ends what came before the call.
    if (op == Op::free) group.tail = i + 1;
    if (op == Op::free_requested) group.tail = i + (trace_.completes_at_once(i) ? 2 : 1);
    if (is_request(op)) break;
  }
  group.ends_in_request = group.tail < group.to && is_request(trace_.ops[group.to - 1]);
  return group;
}

std::vector<ScriptEntry> Verification::script_of(std::size_t from, std::size_t to) const {
  std::vector<ScriptEntry> script;
  for (std::size_t i = from; i < to; ++i) {
    if (is_driver_event(trace_.ops[i])) {
      script.push_back({trace_.ops[i], trace_.addresses[i], trace_.sizes[i], trace_.lane(i).pool});
    }
  }
  return script;
}

void Verification::note_matched(const Group& group) {
  for (std::size_t i = group.from; i < group.to; ++i) {
    result_.allocs_matched += trace_.ops[i] == Op::allocate;
    result_.segment_events_matched += is_driver_event(trace_.ops[i]);
  }
}

// Plays one event; the script is what the driver grants to a request. False where the outcome is
// not the recorded one.
bool Verification::step(Model& model, std::size_t event, std::span<const ScriptEntry> script) {
  const Slot slot = trace_.slots[event];
  // A block from before the recording that no segment holds is not in the model.
  const bool held = slot != kNoSlot && handles_[slot] != kNoHandle;
  if (!held && trace_.ops[event] != Op::allocate && trace_.ops[event] != Op::oom) return true;
  switch (trace_.ops[event]) {
    case Op::free:
      model.allocator->free(handles_[slot], {});
      return true;
    case Op::free_requested:
      model.allocator->request_free(handles_[slot]);
      return true;
    case Op::free_completed:
      model.allocator->complete_free(handles_[slot]);
      return true;
    case Op::allocate:
    case Op::oom:
      return request(model, event, script);
    default:
      return true;
  }
}

bool Verification::request(Model& model, std::size_t event, std::span<const ScriptEntry> script) {
  const bool refused = trace_.ops[event] == Op::oom;
  const StreamPool lane = trace_.lane(event);
  model.device->play(script);
  const auto placement =
      model.allocator->allocate({trace_.sizes[event], 0, lane.stream, lane.pool});
  const bool same =
      refused ? !placement : placement && placement->address == trace_.addresses[event];
  if (!same || model.device->contradiction() || !model.device->rest().empty()) {
    if (!problem_) {
      problem_ = {event, refused ? "out of memory" : fmt::format("0x{:x}", trace_.addresses[event]),
                  placement ? fmt::format("0x{:x}", placement->address) : "out of memory",
                  explain(model, script)};
      contradiction_ = model.device->contradiction();
      misplaced_.reset();
      if (placement) {
        misplaced_ = placement->handle;
        misplaced_at_ = placement->address;
        clues_.addresses = {placement->address};
        if (!refused) clues_.choice = {trace_.addresses[event], placement->address};
      }
    }
    return false;
  }
  if (placement) {
    handles_[trace_.slots[event]] = placement->handle;
    placed_size_ = placement->size;
  }
  return true;
}

std::string Verification::explain(const Model& model, std::span<const ScriptEntry> script) const {
  if (const auto& call = model.device->contradiction()) {
    return fmt::format("the model requests {}, which is not in the recording", text_of(*call));
  }
  if (!model.device->rest().empty()) {
    return fmt::format("{} of {} recorded segment events differ from the model's",
                       model.device->rest().size(), script.size());
  }
  return "the model chooses another address";
}

void Verification::hold(const MemoryState& state) {
  for (const SegmentInfo& segment : state.segments) {
    model_.device->adopt(segment.address, segment.size, segment.expandable);
  }
}

// What explains the group may still be more, or less, than a device of the stated size does.
bool Verification::fits_the_device(const Group& group) {
  const auto& conflict = model_.device->size_conflict();
  if (conflict) problem_ = divergence_of(*conflict, *assumptions_.room, group.to - 1);
  return !conflict;
}

bool Verification::play(const Group& group) {
  problem_.reset();
  contradiction_.reset();
  misplaced_.reset();
  const std::size_t waiting = first_that_may_have_waited(group);
  if (waiting == group.to) return play_as_it_looks(group);
  Model before = model_.fork();
  if (play_as_it_looks(group)) return true;
  Model failed = std::exchange(model_, std::move(before));
  if (explain_by_waiting_frees(group, waiting)) return true;
  model_ = std::move(failed);
  return false;
}

bool Verification::play_as_it_looks(const Group& group) {
  if (!group.has_driver_events && !settings_may_change(group)) return play_plainly(group);
  if (!play_before_tail(group)) return false;
  if (empties_idly_) empty_cache_without_effect(group.to - 1);
  return play_tail(group);
}

bool Verification::play_plainly(const Group& group) {
  for (std::size_t i = group.from; i < group.to; ++i) {
    if (empties_idly_ && i + 1 == group.to) empty_cache_without_effect(i);
    if (!step(model_, i, {})) return false;
  }
  return true;
}

// Before the last thing that the program did itself, releases are those of empty_cache calls.
bool Verification::play_before_tail(const Group& group) {
  std::size_t i = group.from;
  while (i < group.tail) {
    std::size_t end = i;
    while (end < group.tail && is_driver_event(trace_.ops[end])) ++end;
    if (end == i) {
      step(model_, i++, {});
      continue;
    }
    if (!empty_cache(model_, script_of(i, end), i)) {
      const auto& call = model_.device->contradiction();
      problem_ = {i, fmt::format("{} segment events of an empty_cache", end - i),
                  call ? text_of(*call) : "fewer", "the model releases other segments"};
      contradiction_ = call;
      return false;
    }
    i = end;
  }
  return true;
}

bool Verification::resynchronise(const Group& group) {
  if (!recorded_state_) return false;
  std::uint64_t unplaced = 0;
  const MemoryState state = recorded_state_->layout(settings_, unplaced);
  if (unplaced > 0) {
    result_.reason = fmt::format(
        "not compared from event {} on: recorded blocks are not in recorded segments", group.to);
    return false;
  }
  // A recording of another allocator would be forced at every request.
  constexpr std::uint64_t kMostLaidOut = 20'000'000;
  constexpr std::uint64_t kBlocksThatAPoolCosts = 200;
  std::set<std::pair<StreamIndex, PoolIndex>> pools;
  for (const SegmentInfo& segment : state.segments) {
    laid_out_ += segment.blocks.size();
    pools.emplace(segment.stream, segment.pool);
  }
  laid_out_ += pools.size() * kBlocksThatAPoolCosts;
  if (laid_out_ > kMostLaidOut) {
    result_.reason =
        fmt::format("not compared from event {} on: it does not match the model", group.to);
    return false;
  }
  ++result_.forced;
  count_retries();
  model_ = new_model();
  model_.allocator->adopt(state, handles_);
  hold(state);
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot != kNoSlot) recorded_state_->note_size(block.slot, block.size);
    }
  }
  return true;
}

}  // namespace memreplay
