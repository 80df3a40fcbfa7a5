#include <gtest/gtest.h>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay {
namespace {

torch::Settings replayed(const RecordedSettings& recorded) {
  SimulatedDevice device;
  const auto strategy =
      make_strategy(parse_strategy("recorded"),
                    {.device = device, .capacity = {}, .recorded = &recorded, .pools = {}});
  return dynamic_cast<torch::Allocator&>(*strategy).settings();
}

TEST(Recorded, TheStatedValuesStandOverTheString) {
  RecordedSettings recorded{.present = true,
                            .conf = "max_split_size_mb:64,large_segment_size_mb:32"};
  recorded.max_split_size = -1;
  recorded.expandable_segments = true;
  const torch::Settings settings = replayed(recorded);
  EXPECT_EQ(settings.max_split_size, torch::kUnlimited);
  EXPECT_EQ(settings.large_segment_size, 32 * kMiB);
  EXPECT_TRUE(settings.expandable_segments);
}

TEST(Recorded, WithoutARecordTheDefaultsHold) { EXPECT_EQ(replayed({}), torch::Settings{}); }

TEST(Recorded, WithoutARecordingItIsRefused) {
  SimulatedDevice device;
  EXPECT_THROW(
      make_strategy(parse_strategy("recorded"), {.device = device, .capacity = {}, .pools = {}}),
      UsageError);
}

}  // namespace
}  // namespace memreplay
