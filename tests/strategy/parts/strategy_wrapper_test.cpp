#include "strategy/parts/strategy_wrapper.hpp"

#include <gtest/gtest.h>

#include <string>

#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

/// Places blocks one after the other from `base` on, and writes down what it is told.
class ToldStrategy final : public Strategy, private ProgramSteps, private PrivatePools {
 public:
  ToldStrategy(Address base, std::string& said) : base_(base), said_(said) {}

  std::unique_ptr<Strategy> clone(DeviceModel&) const override {
    return std::make_unique<ToldStrategy>(*this);
  }
  std::optional<Placement> allocate(const Request& request) override {
    return Placement{base_ + 100 * next_, request.size, next_++};
  }
  void free(Handle block, FreeOrigin giver) override {
    said_ += " free " + std::to_string(block) + " by " + std::to_string(giver.stream);
  }
  void request_free(Handle block) override { said_ += " request " + std::to_string(block); }
  void complete_free(Handle block) override { said_ += " complete " + std::to_string(block); }
  void empty_cache() override { said_ += " empty"; }
  FreeSpace free_space() const override { return {.total = base_, .largest = 5, .obtainable = 7}; }
  std::vector<AddressRange> free_ranges() const override { return {{base_, base_ + 1}}; }
  StrategyUsage usage() const override { return {.syncs = 1}; }
  MemoryState memory_state() const override {
    return {{{.address = base_, .size = 1000, .blocks = {}}}};
  }
  Abilities abilities() override { return {.steps = this, .pools = this}; }
  void marker() override { said_ += " marker"; }
  void release_pool(PoolIndex pool, PoolCache) override {
    said_ += " pool " + std::to_string(pool);
  }

 private:
  Address base_;
  std::string& said_;
  Handle next_ = 0;
};

/// Odd sizes to the first part, even ones to the second; 1 byte is its own.
class ByParity final : public StrategyWrapper<> {
 public:
  using StrategyWrapper::Parts;
  explicit ByParity(Parts parts, HandleTable<PartBlock> blocks = {})
      : StrategyWrapper(std::move(parts), std::move(blocks)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<ByParity>(copies(device), blocks_);
  }
  std::optional<Placement> allocate(const Request& request) override {
    if (request.size == 1) return Placement{0, 1, blocks_.add({})};
    const std::uint32_t to = request.size % 2 == 0;
    auto placement = part(to).allocate(request);
    placement->handle = blocks_.add({placement->handle, to});
    return placement;
  }
  int own_freed = 0;

 private:
  void free_own(const PartBlock&) override { ++own_freed; }
};

struct StrategyWrapperTest : testing::Test {
  StrategyWrapperTest() {
    ByParity::Parts parts;
    parts.push_back(std::make_unique<ToldStrategy>(1000, odd));
    parts.push_back(std::make_unique<ToldStrategy>(5000, even));
    wrapper = std::make_unique<ByParity>(std::move(parts));
  }

  std::string odd;
  std::string even;
  std::unique_ptr<ByParity> wrapper;
};

TEST_F(StrategyWrapperTest, ABlockIsFreedByThePartThatPlacedItUnderThePartsOwnHandle) {
  const Handle first = wrapper->allocate({.size = 3})->handle;
  const Handle second = wrapper->allocate({.size = 4})->handle;
  const Handle third = wrapper->allocate({.size = 6})->handle;
  wrapper->free(second, {.stream = 9});
  wrapper->request_free(third);
  wrapper->complete_free(third);
  wrapper->free(first, {.stream = 8});
  EXPECT_EQ(odd, " free 0 by 8");
  EXPECT_EQ(even, " free 0 by 9 request 1 complete 1");
}

TEST_F(StrategyWrapperTest, ABlockOfNoPartIsTheWrappersOwnToFree) {
  const Handle freed = wrapper->allocate({.size = 1})->handle;
  const Handle completed = wrapper->allocate({.size = 1})->handle;
  wrapper->free(freed, {});
  wrapper->request_free(completed);
  EXPECT_EQ(wrapper->own_freed, 1);
  wrapper->complete_free(completed);
  EXPECT_EQ(wrapper->own_freed, 2);
  EXPECT_EQ(odd + even, "");
}

TEST_F(StrategyWrapperTest, WhatConcernsNoBlockGoesToAllPartsInOrder) {
  wrapper->empty_cache();
  const Abilities abilities = wrapper->abilities();
  abilities.steps->marker();
  abilities.steps->safe_frontier(3);
  abilities.pools->release_pool(2, PoolCache::kept);
  EXPECT_EQ(odd, " empty marker pool 2");
  EXPECT_EQ(even, odd);
}

TEST_F(StrategyWrapperTest, WhatThePartsHoldIsTold) {
  EXPECT_EQ(wrapper->free_space().total, 6000u);
  EXPECT_EQ(wrapper->free_space().obtainable, 7u);
  EXPECT_EQ(wrapper->free_ranges().size(), 2u);
  EXPECT_EQ(wrapper->memory_state().segments.back().address, 5000u);
  EXPECT_EQ(wrapper->usage().syncs, 2u);
}

TEST_F(StrategyWrapperTest, ACopyKnowsTheBlocks) {
  wrapper->allocate({.size = 3});
  const Handle block = wrapper->allocate({.size = 5})->handle;
  SimulatedDevice device;
  wrapper->clone(device)->free(block, {.stream = 4});
  EXPECT_EQ(odd, " free 1 by 4");
}

}  // namespace
}  // namespace memreplay
