#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// The part of a block that no part of a wrapper has placed, or has any more.
inline constexpr std::uint32_t kNoPart = UINT32_MAX;

/// A block of a wrapper, and who placed it. Wrappers that note more derive from it.
struct PartBlock {
  Handle inner = kNoHandle;  ///< the part's own
  std::uint32_t part = kNoPart;
};

/// The base of strategies that place blocks by others, their parts. A derived class decides in
/// `allocate` which part serves, enters the block into `blocks_`, and overrides what it does
/// otherwise than to hand on. Parts do not move blocks; the last one serves what no other does.
template <class Block = PartBlock>
class StrategyWrapper : public Strategy,
                        protected ProgramSteps,
                        protected PrivatePools,
                        protected Prefetch {
 public:
  void free(Handle handle, FreeOrigin giver) override {
    const Block block = blocks_.remove(handle);
    if (block.part == kNoPart) return free_own(block);
    part(block.part).free(block.inner, giver);
  }
  void request_free(Handle handle) override {
    const Block& block = blocks_[handle];
    if (block.part != kNoPart) part(block.part).request_free(block.inner);
  }
  void complete_free(Handle handle) override {
    const Block block = blocks_.remove(handle);
    if (block.part == kNoPart) return free_own(block);
    part(block.part).complete_free(block.inner);
  }
  void empty_cache() override {
    for (const Part& part : parts_) part.strategy->empty_cache();
  }

  FreeSpace free_space() const override {
    FreeSpace space = last_part().free_space();
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) space.add(part(i).free_space());
    return space;
  }
  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const Part& part : parts_) append(ranges, part.strategy->free_ranges());
    return ranges;
  }
  StrategyUsage usage() const override {
    StrategyUsage usage;
    for (const Part& part : parts_) usage.add(part.strategy->usage());
    return usage;
  }
  MemoryState memory_state() const override {
    std::vector<MemoryState> states;
    for (const Part& part : parts_) states.push_back(part.strategy->memory_state());
    return together(std::move(states));
  }

  Abilities abilities() override {
    return {.steps = this,
            .pools = this,
            .prefetch = this,
            .oom_report = parts_.back().abilities.oom_report};
  }
  void marker() override {
    for (const Part& part : parts_) {
      if (part.abilities.steps != nullptr) part.abilities.steps->marker();
    }
  }
  void safe_frontier(std::uint64_t frees) override {
    for (const Part& part : parts_) {
      if (part.abilities.steps != nullptr) part.abilities.steps->safe_frontier(frees);
    }
  }
  void release_pool(PoolIndex pool, PoolCache cache) override {
    for (const Part& part : parts_) {
      if (part.abilities.pools != nullptr) part.abilities.pools->release_pool(pool, cache);
    }
  }
  void prefetch(Handle handle) const override {
    const Block& block = blocks_.blocks()[handle];
    if (block.part == kNoPart) return;
    const Prefetch* able = parts_[block.part].abilities.prefetch;
    if (able != nullptr) able->prefetch(block.inner);
  }

 protected:
  using Parts = std::vector<std::unique_ptr<Strategy>>;

  /// `blocks` are those of the wrapper whose copy this is.
  explicit StrategyWrapper(Parts parts, HandleTable<Block> blocks = {})
      : blocks_(std::move(blocks)) {
    for (auto& part : parts) {
      const Abilities abilities = part->abilities();
      parts_.push_back({std::move(part), abilities});
    }
  }

  /// Copies of all parts, over one device.
  Parts copies(DeviceModel& device) const {
    Parts copies;
    for (const Part& part : parts_) copies.push_back(part.strategy->clone(device));
    return copies;
  }
  std::size_t part_count() const { return parts_.size(); }
  Strategy& part(std::size_t index) { return *parts_[index].strategy; }
  const Strategy& part(std::size_t index) const { return *parts_[index].strategy; }
  Strategy& last_part() { return *parts_.back().strategy; }
  const Strategy& last_part() const { return *parts_.back().strategy; }

  /// A block of no part has been removed from `blocks_`, for good.
  virtual void free_own(const Block&) {}

  template <typename T>
  static void append(std::vector<T>& all, std::vector<T> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }

  HandleTable<Block> blocks_;

 private:
  struct Part {
    std::unique_ptr<Strategy> strategy;
    Abilities abilities;
  };

  std::vector<Part> parts_;
};

/// Appends what a part counted, its names after a prefix.
inline void append_counters(Counters& counters, const std::string& prefix, const Counters& part) {
  for (const auto& [name, value] : part) counters.emplace_back(prefix + name, value);
}

}  // namespace memreplay
