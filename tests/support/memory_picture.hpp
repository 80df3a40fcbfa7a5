#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "strategy/registry.hpp"
#include "support/counter_of.hpp"

namespace memreplay {

/// Plays blocks with letters for names on a strategy and draws its memory, a letter a unit; the
/// ledger judges every step. Regions stand by address, with '|' between them.
class MemoryPicture {
 public:
  explicit MemoryPicture(std::string_view strategy, std::optional<Bytes> capacity = {},
                         Bytes unit = 1, std::shared_ptr<const Plan> plan = {})
      : unit_(unit), ledger_(strategy) {
    SimulatedDeviceOptions options;
    options.granularity = unit;
    if (capacity) options.capacity = *capacity * unit;
    simulated_ = std::make_unique<SimulatedDevice>(options);
    device_ = std::make_unique<HeardDevice>(*simulated_, ledger_);
    StrategyContext context{.device = *device_, .capacity = options.capacity};
    context.plan = std::move(plan);
    const StrategySpec spec = parse_strategy(strategy);
    strategy_ = make_strategy(spec, context);
    if (joins_regions(spec)) ledger_.let_regions_join();
  }

  /// Who asks and gives back from now on; stream 0 before.
  MemoryPicture& on(StreamIndex stream) {
    stream_ = stream;
    return *this;
  }

  /// Sizes in units. A block that is not served is drawn nowhere.
  MemoryPicture& alloc(char name, Bytes size, Bytes alignment = 0) {
    return alloc(name, Request{.size = size, .alignment = alignment, .stream = stream_});
  }
  /// A request that says more, its size in units.
  MemoryPicture& alloc(char name, Request request) {
    request.size *= unit_;
    const auto placement = strategy_->allocate(request);
    ++event_;
    note_moved();
    if (placement) {
      ledger_.placed(event_, request, *placement);
      live_[name] = *placement;
      allocated_ += placement->size;
      peak_allocated_ = std::max(peak_allocated_, allocated_);
    } else {
      ++ooms_;
    }
    return *this;
  }

  MemoryPicture& free(char name) {
    const auto block = live_.find(name);
    if (block == live_.end()) return *this;  // it was not served
    ledger_.freed(++event_, block->second);
    strategy_->free(block->second.handle, {.stream = stream_});
    allocated_ -= block->second.size;
    live_.erase(block);
    return *this;
  }

  MemoryPicture& safe_frontier(std::uint64_t count) {
    if (ProgramSteps* steps = strategy_->abilities().steps) steps->safe_frontier(count);
    return *this;
  }

  MemoryPicture& empty_cache() {
    strategy_->empty_cache();
    return *this;
  }

  MemoryPicture& marker() {
    if (ProgramSteps* steps = strategy_->abilities().steps) steps->marker();
    return *this;
  }

  std::string picture() const {
    std::string drawn;
    for (const SegmentInfo& region : strategy_->memory_state().segments) {
      if (!drawn.empty()) drawn += '|';
      std::string cells(region.size / unit_, '.');
      for (const auto& [name, block] : live_) {
        if (block.address < region.address || block.address >= region.address + region.size) {
          continue;
        }
        cells.replace((block.address - region.address) / unit_, block.size / unit_,
                      block.size / unit_, name);
      }
      drawn += cells;
    }
    return drawn;
  }

  int ooms() const { return ooms_; }
  Bytes peak_allocated() const { return peak_allocated_ / unit_; }
  const DeviceUsage& device() const { return simulated_->usage(); }
  const Strategy& strategy() const { return *strategy_; }
  Abilities abilities() { return strategy_->abilities(); }
  std::uint64_t stream_waits() const { return strategy_->usage().stream_waits; }
  std::uint64_t oom_retries() const { return strategy_->usage().oom_retries; }
  std::uint64_t syncs() const { return strategy_->usage().syncs; }
  std::int64_t counter(std::string_view name) const { return counter_of(*strategy_, name); }

 private:
  void note_moved() {
    if (strategy_->usage().moved == nullptr) return;
    for (const Placement& there : *strategy_->usage().moved) {
      for (auto& [name, block] : live_) {
        if (block.handle != there.handle) continue;
        ledger_.moved(block, there);
        block = there;
      }
    }
  }

  Bytes unit_;
  Ledger ledger_;
  std::unique_ptr<SimulatedDevice> simulated_;
  std::unique_ptr<HeardDevice> device_;
  std::unique_ptr<Strategy> strategy_;
  std::map<char, Placement> live_;
  std::uint64_t event_ = 0;
  StreamIndex stream_ = 0;
  int ooms_ = 0;
  Bytes allocated_ = 0;
  Bytes peak_allocated_ = 0;
};

}  // namespace memreplay
