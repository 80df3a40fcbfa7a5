#include "verify/reading.hpp"

#include <algorithm>
#include <string_view>

#include "core/error.hpp"
#include "strategy/torch/passed_settings.hpp"
#include "trace/markers.hpp"

namespace memreplay {
namespace {

// The upper one of two in the middle; unset where there are none.
std::optional<std::uint64_t> median(std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// No request of the default pool comes from a stream of this one.
bool has_streams_of_its_own(const Trace& trace, PoolIndex pool) {
  return std::ranges::none_of(trace.lanes, [&](const StreamPool& lane) {
    return lane.pool == 0 && std::ranges::any_of(trace.lanes, [&](const StreamPool& own) {
             return own.pool == pool && own.stream == lane.stream;
           });
  });
}

}  // namespace

std::vector<SettingsCall> noted_settings(const Recording& recording, const Trace& trace,
                                         const torch::Release& release) {
  std::vector<SettingsCall> calls;
  std::optional<torch::PassedSettings> passed;
  for (std::size_t i = 0; i < trace.tags.size(); ++i) {
    const std::string& text = recording.texts[trace.tags[i]];
    if (trace.ops[i] != Op::marker || !text.starts_with(kSettingsMarker)) continue;
    const std::string conf = text.substr(kSettingsMarker.size());
    try {
      if (!passed) {
        torch::SettingIssues ignored;
        const StrategySpec spec = under_release(torch_spec_from_conf(conf), release.text());
        passed.emplace(spec, nullptr,
                       TorchModel{torch::read_conf(conf, release, ignored), release});
        calls.push_back({i, passed->pass_the_first(), conf});
      } else {
        calls.push_back({i, passed->pass(conf), conf});
      }
    } catch (const UsageError&) {
      return calls;
    }
  }
  return calls;
}

std::vector<PoolOptions> recorded_pools(const Trace& trace) {
  std::vector<PoolOptions> options(trace.pools.size());
  for (PoolIndex pool = 1; pool < options.size(); ++pool) {
    // PyTorch names the pool of a capture {n, 0} where the program did not name one.
    options[pool].of_a_graph = trace.pools[pool].first != 0 || has_streams_of_its_own(trace, pool);
  }
  return options;
}

std::vector<std::uint64_t> captures_without_empty_cache(const Trace& trace,
                                                        const Reading& reading) {
  std::vector<std::uint64_t> found;
  auto call = reading.calls.begin();
  PoolIndex last = 0;    // the previous request's
  bool emptied = false;  // since then
  for (std::size_t i = 0; i < trace.size(); ++i) {
    for (; call != reading.calls.end() && call->event <= i; ++call) {
      emptied |= call->kind == ProgramCall::Kind::empty_cache;
    }
    if (!is_request(trace.ops[i])) continue;
    const PoolIndex pool = trace.lane(i).pool;
    if (pool != last && reading.pool_options[pool].of_a_graph && !emptied) found.push_back(i);
    last = pool;
    emptied = false;
  }
  return found;
}

void complete_deferrals(const Trace& trace, Reading& reading) {
  if (reading.deferrals.empty()) return;
  std::vector<std::uint64_t> requests;                                // events
  std::vector<std::size_t> freed_after(trace.slot_count);             // so many requests, by slot
  std::vector<std::size_t> deferred_after(reading.deferrals.size());  // likewise, by deferral
  std::vector<std::vector<std::uint64_t>> gaps(trace.streams.size());
  std::size_t next = 0;  // deferral
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (is_request(trace.ops[i])) requests.push_back(i);
    if (trace.ops[i] == Op::free_requested) freed_after[trace.slots[i]] = requests.size();
    if (trace.ops[i] != Op::free_completed) continue;
    while (next < reading.deferrals.size() && reading.deferrals[next].event < i) ++next;
    const std::size_t freed = freed_after[trace.slots[i]];
    if (next < reading.deferrals.size() && reading.deferrals[next].event == i) {
      deferred_after[next] = freed;
    } else if (i == 0 || !trace.completes_at_once(i - 1)) {
      gaps[trace.lane(i).stream].push_back(requests.size() - freed);
    }
  }
  std::vector<std::optional<std::uint64_t>> usual_gap(gaps.size());
  std::ranges::transform(gaps, usual_gap.begin(), median);
  for (std::size_t i = 0; i < reading.deferrals.size(); ++i) {
    Deferral& deferral = reading.deferrals[i];
    const auto gap = usual_gap[trace.lane(deferral.event).stream];
    const bool comes = gap && deferred_after[i] + *gap < requests.size();
    deferral.due =
        comes ? std::max(requests[deferred_after[i] + *gap], deferral.event) : UINT64_MAX;
  }
}

RecordedState::RecordedState(const Trace& trace) : trace_(trace), live_(trace.slot_count) {
  for (const SegmentInfo& segment : trace.start.segments) {
    segments_[segment.address] = {segment.size, segment.stream, segment.pool, segment.small_pool,
                                  segment.expandable};
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot == kNoSlot) continue;
      live_[block.slot] = {.address = block.address,
                           .requested = block.requested,
                           .size = block.size,
                           .state = block.state,
                           .slot = block.slot};
    }
  }
}

void RecordedState::play(std::size_t event) {
  const Slot slot = trace_.slots[event];
  const Address address = trace_.addresses[event];
  const Bytes size = trace_.sizes[event];
  const StreamPool lane = trace_.lane(event);
  switch (trace_.ops[event]) {
    case Op::allocate:
      live_[slot] = {.address = address, .requested = size, .slot = slot};
      break;
    case Op::free_requested:
      live_[slot].state = BlockState::pending;
      break;
    case Op::free:
    case Op::free_completed:
      live_[slot].slot = kNoSlot;
      break;
    case Op::segment_alloc:
      segments_[address] = {size, lane.stream, lane.pool, size == torch::kSmallBuffer, false};
      break;
    case Op::segment_free:
      segments_.erase(address);
      break;
    case Op::segment_map:
      map(event);
      break;
    case Op::segment_unmap:
      cut_run(segments_, address, size);
      break;
    default:
      break;
  }
}

// Runs that touch become one where they belong together.
void RecordedState::map(std::size_t event) {
  const StreamPool lane = trace_.lane(event);
  const Segment run{trace_.sizes[event], lane.stream, lane.pool,
                    trace_.sizes[event] == torch::kSmallBuffer, true};
  add_run(segments_, trace_.addresses[event], run, [&](const Segment& other) {
    return other.expandable && other.stream == run.stream && other.pool == run.pool &&
           other.small_pool == run.small_pool;
  });
}

MemoryState RecordedState::layout(const torch::Settings& settings, std::uint64_t& unplaced) const {
  std::vector<StartBlock> blocks;
  for (const StartBlock& block : live_) {
    if (block.slot != kNoSlot) blocks.push_back(block);
  }
  const BlockRules rules{.roundup = settings.roundup_power2_divisions,
                         .max_split_size = settings.max_split_size,
                         .expandable = settings.expandable_segments,
                         .request_padding = settings.request_padding};
  MemoryState state = lay_out_start(segments_, blocks, {}, rules, unplaced);
  std::size_t i = 0;
  for (const auto& [address, segment] : segments_) {
    state.segments[i].stream = static_cast<StreamIndex>(segment.stream);
    state.segments[i++].pool = static_cast<PoolIndex>(segment.pool);
  }
  return state;
}

}  // namespace memreplay
