#include "gpu/settings.hpp"

#include <gtest/gtest.h>

#include "capture/gpu/gpu.hpp"
#include "record/virtual_card.hpp"

namespace memreplay::gpu {
namespace {

TEST(GpuSettings, AreThoseThatRecordWrites) {
  const VirtualCard card = virtual_card("a100-40g:context=300MiB,sm=12.1,count=3,lag=7");
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
    EXPECT_EQ(read.fill, Fill::random);
    EXPECT_EQ(read.seed, 5);
    EXPECT_EQ(read.refusals.at, 9);
    EXPECT_EQ(read.refusals.size, 4096);
    EXPECT_EQ(read.refusals.random_seed, 11);
    EXPECT_EQ(read.refusals.rate, 0.25);
  }));
}

TEST(GpuSettings, RefuseNothingThatWasNotAskedFor) {
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4"), {}), [] {
    EXPECT_FALSE(settings().refusals.any());
    EXPECT_EQ(settings().fill, Fill::zeros);
    EXPECT_EQ(settings().count, 1);
  }));
}

TEST(GpuSettings, HaveADeviceForEachProcessThatALauncherStartsHere) {
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4"), {}), [] {
    ::setenv("LOCAL_WORLD_SIZE", "4", 1);
    EXPECT_EQ(settings().count, 4);
  }));
  EXPECT_TRUE(holds_alone(settings_of(virtual_card("t4:count=2"), {}), [] {
    ::setenv("LOCAL_WORLD_SIZE", "4", 1);
    EXPECT_EQ(settings().count, 2);
  }));
}

}  // namespace
}  // namespace memreplay::gpu
