#include "gpu/settings.hpp"

#include <gtest/gtest.h>

#include "capture/gpu/gpu.hpp"
#include "record/virtual_card.hpp"

namespace memreplay::gpu {
namespace {

TEST(GpuSettings, AreThoseThatRecordWrites) {
  const VirtualCard card = virtual_card("a100-40g:context=300MiB,sm=12.1,count=3,lag=7,benchmark=least");
  const VirtualBehaviour behaviour{
      .fill = "random", .seed = 5, .oom_at = 9, .oom_size = 4096, .oom_random = "11:0.25"};
  EXPECT_TRUE(holds_alone(settings_of(card, behaviour), [&] {
    const Settings& read = settings();
    EXPECT_EQ(read.name, "NVIDIA " + std::string(card.card.name));
    EXPECT_EQ(read.total, card.total);
    EXPECT_EQ(read.context, 300 * kMiB);
    EXPECT_EQ(read.major, 12);
    EXPECT_EQ(read.minor, 1);
    EXPECT_EQ(read.multiprocessors, card.card.multiprocessors);
    EXPECT_EQ(read.count, 3);
    EXPECT_EQ(read.lag, 7);
    EXPECT_TRUE(read.least_engine);
    EXPECT_EQ(read.fill, Fill::random);
    EXPECT_EQ(read.seed, 5);
    EXPECT_EQ(refusals().at, 9);
    EXPECT_EQ(refusals().size, 4096);
    EXPECT_EQ(refusals().random_seed, 11);
    EXPECT_EQ(refusals().rate, 0.25);
  }));
}

TEST(GpuSettings, RefuseNothingThatWasNotAskedFor) {
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4"), {}), [] {
    EXPECT_FALSE(refusals().any());
    EXPECT_EQ(settings().fill, Fill::zeros);
    EXPECT_EQ(card_count(), 1);
  }));
}

TEST(GpuSettings, HaveADeviceForEachProcessThatALauncherStartsHere) {
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4"), {}), [] {
    ::setenv("LOCAL_WORLD_SIZE", "4", 1);
    EXPECT_EQ(card_count(), 4);
  }));
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4:count=2"), {}), [] {
    ::setenv("LOCAL_WORLD_SIZE", "4", 1);
    EXPECT_EQ(card_count(), 2);
  }));
}

/// The cards that CUDA_VISIBLE_DEVICES shows of four.
std::vector<int> shown_by(const char* names) {
  ::setenv("CUDA_VISIBLE_DEVICES", names, 1);
  return visible_cards();
}

TEST(GpuSettings, ShowTheCardsThatAreNamed) {
  const auto expect_shown = [](const char* names, const std::vector<int>& cards) {
    EXPECT_TRUE(holds_alone("count=4", [&] { EXPECT_EQ(shown_by(names), cards) << names; }));
  };
  expect_shown("2,0", {2, 0});
  expect_shown("1,4,0", {1});
  expect_shown("-1", {});
  expect_shown("", {});
  expect_shown("3,x,0", {3});
  expect_shown("1,1", {});
  expect_shown("GPU-00000002,GPU-00000001-0000-0000-0000-000000000000", {1, 0});
}

TEST(GpuSettings, HaveTheCardsThatAreNamedWhereTheirNumberIsNotGiven) {
  EXPECT_TRUE(holds_alone("", [] {
    EXPECT_EQ(shown_by("3,1"), (std::vector<int>{3, 1}));
    EXPECT_EQ(card_count(), 4);
  }));
}

}  // namespace
}  // namespace memreplay::gpu
