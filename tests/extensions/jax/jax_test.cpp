#include <gtest/gtest.h>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kCard = 1000 * kMiB;

/// JAX on a card of 1000 MiB, of which it has asked for nothing yet.
class JaxOnACard {
 public:
  explicit JaxOnACard(const std::string& text)
      : device_({.capacity = kCard}),
        strategy_(make_strategy(parse_strategy(text), {.device = device_, .capacity = kCard})) {}

  bool serves(Bytes size) { return strategy_->allocate({.size = size}).has_value(); }
  Bytes held() const { return device_.usage().held; }
  Strategy& strategy() { return *strategy_; }
  std::string said() const {
    std::string all;
    for (const std::string& remark : strategy_->testimony().remarks) all += remark + '\n';
    return all;
  }

 private:
  SimulatedDevice device_;
  std::unique_ptr<Strategy> strategy_;
};

std::string jax_complaint(const std::string& text) {
  try {
    JaxOnACard card(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Jax, ByDefaultOnePoolTakesThreeQuartersOfTheCard) {
  JaxOnACard card("jax");
  EXPECT_TRUE(card.serves(1));
  EXPECT_EQ(card.held(), 750 * kMiB);
  EXPECT_FALSE(card.serves(750 * kMiB));
  EXPECT_EQ(card.said(),
            "JAX logs at its start: XLA backend allocating 786432000 bytes on device 0 for "
            "BFCAllocator\n");
}

TEST(Jax, WithoutPreallocationThePoolGrowsToTheSameLimit) {
  for (const char* off : {"false", "False", "0"}) {
    JaxOnACard card(std::string("jax:preallocate=") + off);
    EXPECT_TRUE(card.serves(1));
    EXPECT_EQ(card.held(), 2 * kMiB);
    EXPECT_FALSE(card.serves(760 * kMiB));
  }
  JaxOnACard card("jax:preallocate=FALSE");  // any other text is true
  EXPECT_TRUE(card.serves(1));
  EXPECT_EQ(card.held(), 750 * kMiB);
}

TEST(Jax, TheFractionIsOfSinglePrecision) {
  EXPECT_NE(JaxOnACard("jax:mem_fraction=0.9").said().find(" 943718375 bytes"), std::string::npos);
  EXPECT_NE(JaxOnACard("jax:python_client_mem_fraction=0.5").said().find(" 524288000 bytes"),
            std::string::npos);
}

TEST(Jax, ThePlatformHasNoPoolAndNoLimit) {
  JaxOnACard card("jax:allocator=PLATFORM,mem_fraction=0.1");
  const auto block = card.strategy().allocate({.size = 900 * kMiB});
  ASSERT_TRUE(block);
  card.strategy().free(block->handle, {});
  EXPECT_EQ(card.held(), 0u);
}

TEST(Jax, TheShareOfCudaAsyncIsNoLimitAndThereFromTheStart) {
  JaxOnACard card("jax:allocator=cuda_async");
  EXPECT_EQ(card.held(), 750 * kMiB);
  EXPECT_TRUE(card.serves(700 * kMiB));
  EXPECT_TRUE(card.serves(200 * kMiB));
  EXPECT_NE(card.said().find("a model: "), std::string::npos);
  EXPECT_NE(card.said().find("for CudaAsyncAllocator"), std::string::npos);
  EXPECT_EQ(JaxOnACard("jax:allocator=cuda_async,preallocate=false").held(), 0u);
}

TEST(Jax, WhatJaxlibRefusesIsRefusedInItsWords) {
  EXPECT_EQ(jax_complaint("jax:mem_fraction=0.5,python_client_mem_fraction=0.5"),
            "strategy 'jax': XLA_CLIENT_MEM_FRACTION is specified together with "
            "XLA_PYTHON_CLIENT_MEM_FRACTION. Remove the latter one, it is deprecated.");
  EXPECT_EQ(jax_complaint("jax:allocator=bcf"),
            "strategy 'jax': XLA_PYTHON_CLIENT_ALLOCATOR env var must be \"default\", "
            "\"platform\", \"bfc\", \"cuda_async\" or \"vmm\", got \"bcf\"");
  EXPECT_NE(jax_complaint("jax:allocator=vmm").find("is not modelled"), std::string::npos);
  EXPECT_NE(jax_complaint("jax:mem_fraction=1.5").find("TF_FORCE_UNIFIED_MEMORY"),
            std::string::npos);
  EXPECT_NE(jax_complaint("jax:collective_mem_size_mb=512").find("--reserve"), std::string::npos);
}

}  // namespace
}  // namespace memreplay
