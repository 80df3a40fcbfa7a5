#include "strategy/torch/torch.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/torch/allocator.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

torch::Settings settings_of(const StrategySpec& spec, const char* release = "") {
  SimulatedDevice device;
  const auto strategy =
      make_strategy(under_release(spec, release), {.device = device, .capacity = {}, .pools = {}});
  return dynamic_cast<torch::Allocator&>(*strategy).settings();
}

TEST(Torch, OptionsAreThoseOfTheEnvironmentVariable) {
  const torch::Settings settings = settings_of(
      parse_strategy("torch:max_split_size_mb=128,roundup_power2_divisions=[256:1,>:4]"));
  EXPECT_EQ(settings.max_split_size, 128 * kMiB);
  EXPECT_EQ(settings.roundup_power2_divisions[9], 4u);
}

TEST(Torch, ASettingAsItStandsInTheEnvironmentMeansTheSame) {
  const StrategySpec spec =
      torch_spec_from_conf("max_split_size_mb:128,roundup_power2_divisions:[256:1,>:4]");
  EXPECT_EQ(settings_of(spec),
            settings_of(parse_strategy(
                "torch:max_split_size_mb=128,roundup_power2_divisions=[256:1,>:4]")));
  EXPECT_EQ(torch_spec_from_conf("").text, "torch");
}

TEST(Torch, TheTextOfASettingFromTheEnvironmentMeansTheSame) {
  for (const char* conf :
       {"", "expandable_segments:True", "max_split_size_mb:128, expandable_segments:False",
        "roundup_power2_divisions:[256:1,512:2,>:8],garbage_collection_threshold:0.8",
        "roundup_power2_divisions:4", "max_split_size_mb,128", "backend:native,"}) {
    const StrategySpec spec = torch_spec_from_conf(conf);
    EXPECT_EQ(settings_of(parse_strategy(spec.text)), settings_of(spec)) << conf;
  }
}

TEST(Torch, TheVersionOfTheSpecificationComesBeforeThatOfTheCommandLine) {
  EXPECT_THROW(settings_of(parse_strategy("torch:max_split_size_mb=20,version=2.6")), UsageError);
  EXPECT_NO_THROW(settings_of(parse_strategy("torch:max_split_size_mb=20,version=2.10"), "2.6"));
}

TEST(Torch, AValueThatPytorchRefusesIsRefused) {
  EXPECT_THROW(settings_of(parse_strategy("torch:max_split_size_mb=3")), UsageError);
  EXPECT_THROW(settings_of(parse_strategy("torch:backend=cudaMallocAsync")), UsageError);
  EXPECT_THROW(settings_of(torch_spec_from_conf("max_split_size_mb")), UsageError);
}

TEST(Torch, ASettingFromTheEnvironmentIsTakenApartAsTheReleaseDoes) {
  const StrategySpec spec = torch_spec_from_conf("max_split_size_mb,128");
  EXPECT_EQ(settings_of(spec).max_split_size, 128 * kMiB);
  EXPECT_THROW(settings_of(spec, "2.9"), UsageError);
}

TEST(Torch, AMemoryFractionIsTakenForEveryRelease) {
  const StrategySpec spec = parse_strategy("torch:per_process_memory_fraction=0.5");
  EXPECT_EQ(settings_of(spec, "2.6").per_process_memory_fraction, 0.5);
}

TEST(Torch, EveryOptionThatItListsIsOneThatPytorchKnows) {
  for (const OptionInfo& option : torch_strategy().options) {
    if (option.key == "version") continue;
    std::vector<torch::SettingIssue> issues;
    torch::read_settings({{std::string(option.key), ""}}, torch::kNewestRelease, issues);
    for (const auto& issue : issues)
      EXPECT_EQ(issue.text.find("no allocator option"), std::string::npos);
  }
}

TEST(ReleaseThatReads, IsTheFirstFromOneOnThatTakesTheSettings) {
  const torch::Release old{2, 5, 0};
  const auto reads = [&](const char* text) {
    const auto release = torch::release_that_reads(parse_strategy(text), old);
    return release ? release->text() : "none";
  };
  EXPECT_EQ(reads("recorded"), "2.5.0");
  EXPECT_EQ(reads("torch:expandable_segments=True"), "2.5.0");
  EXPECT_EQ(reads("torch:large_segment_size_mb=40"), "2.11.0");
  EXPECT_EQ(reads("offload(torch:large_segment_size_mb=40)"), "2.11.0");
  EXPECT_EQ(reads("bfc"), "none");
}

}  // namespace
}  // namespace memreplay
