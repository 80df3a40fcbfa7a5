#include "strategy/torch/duel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <string_view>

namespace memreplay {
namespace {

constexpr std::array<PoolId, kPools> kPoolIds = {{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {2, 0}}};

std::string describe(const std::vector<DeviceEvent>& events, std::size_t at) {
  if (at >= events.size()) return "nothing";
  return fmt::format("{} {:#x} {}", driver_name(events[at].op), events[at].address,
                     events[at].bytes);
}

std::string describe(const MemoryState& state) {
  std::string text;
  for (const SegmentInfo& segment : state.segments) {
    text += fmt::format("{:#x}+{} stream {} pool {}{}{}:", segment.address, segment.size,
                        segment.stream, segment.pool, segment.small_pool ? " small" : "",
                        segment.expandable ? " expandable" : "");
    for (const BlockInfo& block : segment.blocks) {
      text += fmt::format(" {}{}/{}",
                          ".#~"[block.state == BlockState::free        ? 0
                                : block.state == BlockState::allocated ? 1
                                                                       : 2],
                          block.size, block.requested);
    }
    text += '\n';
  }
  return text;
}

/// Whether a private pool without memory exists already does not matter.
bool may_be_missing(std::string_view key, std::int64_t value) {
  return value == 0 && key.starts_with("reserved_bytes_by_private_pools.");
}

/// The number of the step at which a difference shows, counted from 1; 0: none does.
std::size_t first_difference(const Circumstances& circumstances, const std::vector<Step>& steps) {
  Duel duel(circumstances);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!duel.play(steps[i]).empty()) return i + 1;
  }
  return duel.compare().empty() ? 0 : steps.size();
}

}  // namespace

std::string describe(const Circumstances& circumstances) {
  return fmt::format("PyTorch {}, '{}', {} MiB, {}", circumstances.release, circumstances.conf,
                     circumstances.capacity.value_or(kTiB) / kMiB,
                     circumstances.policy == AddressPolicy::upward ? "upward" : "first-fit");
}

std::string describe(const std::vector<Step>& steps) {
  constexpr std::array<std::string_view, 7> kNames = {
      "allocate",    "free",         "request_free", "complete_free",
      "empty_cache", "release_pool", "end_mem_pool"};
  std::string text;
  for (const Step& step : steps) {
    text += kNames[static_cast<std::size_t>(step.kind)];
    if (step.block != 0) text += fmt::format(" #{}", step.block);
    if (step.kind > Step::Kind::empty_cache) text += fmt::format(" {}", step.pool);
    if (step.kind == Step::Kind::allocate) {
      text += fmt::format(" {} bytes, stream {}, pool {}", step.size, step.stream, step.pool);
    }
    text += '\n';
  }
  return text;
}

Duel::Duel(const Circumstances& circumstances)
    : recorded_{.request_padding = circumstances.request_padding,
                .large_alignment = circumstances.large_alignment},
      simulated_(std::make_unique<SimulatedDevice>(SimulatedDeviceOptions{
          .capacity = circumstances.capacity, .policy = circumstances.policy})),
      heard_(std::make_unique<HeardDevice>(*simulated_, ledger_)),
      strategy_(make_strategy(
          under_release(torch_spec_from_conf(circumstances.conf), circumstances.release),
          {.device = *heard_,
           .capacity = circumstances.capacity,
           .recorded = &recorded_,
           .pools = kPoolIds,
           .pool_options = circumstances.pool_options})) {
  heard_->tell(log_);
  torch::SettingIssues issues;
  const torch::Release release = torch::parse_release(circumstances.release);
  torch::Settings settings = torch::read_conf(circumstances.conf, release, issues);
  settings.request_padding = circumstances.request_padding;
  settings.large_alignment = circumstances.large_alignment;
  reference_ = std::make_unique<reference::Allocator>(
      reference::Allocator::Options{.settings = settings,
                                    .release = release,
                                    .capacity = circumstances.capacity,
                                    .policy = circumstances.policy,
                                    .pools = {kPoolIds.begin(), kPoolIds.end()},
                                    .pool_options = circumstances.pool_options});
  adopt(circumstances.start);
}

void Duel::adopt(MemoryState start) {
  std::vector<BlockInfo> used;
  for (SegmentInfo& segment : start.segments) {
    heard_->adopt(segment.address, segment.size, segment.expandable);
    for (BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      block.slot = static_cast<Slot>(used.size());
      used.push_back(block);
    }
  }
  std::vector<Handle> handles(used.size(), kNoHandle);
  strategy_->abilities().adoption->adopt(start, handles);
  const auto lives = reference_->adopt(start);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Placement placement{used[i].address, used[i].size, handles[i]};
    ledger_.placed(0, {.size = used[i].requested}, placement);
    blocks_[static_cast<std::uint32_t>(i + 1)] = {.placement = placement, .life = lives[i]};
  }
}

std::string Duel::play(const Step& step) try {
  ++steps_;
  switch (step.kind) {
    case Step::Kind::empty_cache:
      strategy_->empty_cache();
      note_waiting();
      reference_->empty_cache();
      return compare_devices();
    case Step::Kind::release_pool:
    case Step::Kind::end_mem_pool:
      strategy_->abilities().pools->release_pool(
          step.pool, step.kind == Step::Kind::end_mem_pool ? PoolCache::returned : PoolCache::kept);
      note_waiting();
      reference_->release_pool(step.pool, step.kind == Step::Kind::end_mem_pool);
      return compare_devices();
    default:
      break;
  }
  const auto block = blocks_.find(step.block);
  if ((block != blocks_.end()) == (step.kind == Step::Kind::allocate)) return {};
  if (step.kind == Step::Kind::allocate) return allocate(step);
  if (block->second.free_requested != (step.kind == Step::Kind::complete_free)) return {};
  free(step, block->second);
  if (step.kind != Step::Kind::request_free) blocks_.erase(block);
  return compare_devices();
} catch (const std::exception& error) {
  return error.what();
}

std::string Duel::allocate(const Step& step) {
  const Request request{.size = step.size, .stream = step.stream, .pool = step.pool};
  const auto got = strategy_->allocate(request);
  note_waiting();
  if (got) ledger_.placed(steps_, request, *got);
  const auto expected = reference_->allocate(step.size, step.stream, step.pool);
  if (got.has_value() != expected.has_value()) {
    return got ? fmt::format("placed at {:#x}, expected a refusal", got->address)
               : fmt::format("refused, expected {:#x}", expected->address);
  }
  if (!got) return compare_devices();
  blocks_[step.block] = {.placement = *got, .life = expected->life};
  if (got->address != expected->address || got->size != expected->size) {
    return fmt::format("placed at {:#x}+{}, expected {:#x}+{}", got->address, got->size,
                       expected->address, expected->size);
  }
  return compare_devices();
}

void Duel::free(const Step& step, Block& block) {
  switch (step.kind) {
    case Step::Kind::free:
      ledger_.freed(steps_, block.placement);
      strategy_->free(block.placement.handle, {});
      reference_->free(block.life);
      break;
    case Step::Kind::request_free:
      ledger_.free_requested(steps_, block.placement);
      strategy_->request_free(block.placement.handle);
      reference_->request_free(block.life);
      block.free_requested = true;
      break;
    default:
      ledger_.freed(steps_, block.placement);
      strategy_->complete_free(block.placement.handle);
      reference_->complete_free(block.life);
  }
}

void Duel::note_waiting() {
  const std::uint64_t syncs = strategy_->usage().syncs;
  if (syncs != syncs_) ledger_.synchronised();
  syncs_ = syncs;
}

std::string Duel::compare_devices() {
  const auto& got = log_.events();
  const auto& expected = reference_->device_log();
  for (; device_events_ < std::max(got.size(), expected.size()); ++device_events_) {
    if (device_events_ < std::min(got.size(), expected.size()) &&
        got[device_events_] == expected[device_events_]) {
      continue;
    }
    return fmt::format("the device was asked for {}, expected {}", describe(got, device_events_),
                       describe(expected, device_events_));
  }
  return {};
}

std::string Duel::compare() const {
  std::string differences;
  auto expected = reference_->memory_stats();
  const Testimony testimony = strategy_->testimony();
  for (const auto& [key, value] : testimony.counters) {
    const auto same = expected.find(key);
    if (same == expected.end()) {
      if (may_be_missing(key, value)) continue;
      differences += fmt::format("{} is not expected\n", key);
      continue;
    }
    if (same->second != value) {
      differences += fmt::format("{} is {}, expected {}\n", key, value, same->second);
    }
    expected.erase(same);
  }
  for (const auto& [key, value] : expected) {
    if (!may_be_missing(key, value)) differences += fmt::format("{} is missing\n", key);
  }

  const MemoryState state = reference_->memory_state();
  if (strategy_->memory_state() != state) {
    differences += fmt::format("memory is\n{}expected\n{}", describe(strategy_->memory_state()),
                               describe(state));
  }
  FreeSpace space;
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::free) continue;
      space.total += block.size;
      space.largest = std::max(space.largest, block.size);
    }
  }
  const FreeSpace shown = strategy_->free_space();
  if (shown.total != space.total || shown.largest != space.largest) {
    differences += fmt::format("free are {}, at most {} at once; expected {} and {}\n", shown.total,
                               shown.largest, space.total, space.largest);
  }
  return differences;
}

std::vector<Step> shrink(const Circumstances& circumstances, std::vector<Step> steps) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  std::size_t piece = steps.size();
  for (bool shorter = true; shorter || piece > 1;) {
    piece = std::max<std::size_t>(piece / 2, 1);
    shorter = false;
    // From the end: what is used by nothing goes first.
    for (std::size_t to = steps.size(); to > 0 && Clock::now() < deadline;) {
      const std::size_t from = to - std::min(piece, to);
      std::vector<Step> rest = steps;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(from),
                 rest.begin() + static_cast<std::ptrdiff_t>(to));
      if (const std::size_t length = first_difference(circumstances, rest)) {
        rest.resize(length);
        steps = std::move(rest);
        shorter = true;
      }
      to = std::min(from, steps.size());
    }
  }
  return steps;
}

}  // namespace memreplay
