#include "strategy/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

std::string complaint(auto action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::string parse_complaint(std::string_view text) {
  return complaint([&] { parse_strategy(text); });
}

TEST(Registry, ANameAloneHasNoOptions) {
  const StrategySpec spec = parse_strategy("free-list");
  EXPECT_EQ(spec.name, "free-list");
  EXPECT_EQ(spec.text, "free-list");
  EXPECT_TRUE(spec.options.empty());
}

TEST(Registry, BracketsProtectTheCommasOfAValue) {
  const StrategySpec spec =
      parse_strategy("torch:roundup_power2_divisions=[256:1,512:2,>:8],max_split_size_mb=128");
  ASSERT_EQ(spec.options.size(), 2u);
  EXPECT_EQ(find_option(spec, "roundup_power2_divisions"), "[256:1,512:2,>:8]");
  EXPECT_EQ(find_option(spec, "max_split_size_mb"), "128");
  EXPECT_EQ(spec.text, "torch:roundup_power2_divisions=[256:1,512:2,>:8],max_split_size_mb=128");
}

TEST(Registry, AnEmptyListOfOptionsIsFine) {
  EXPECT_TRUE(parse_strategy("torch:").options.empty());
}

TEST(Registry, TheLastOfTwoValuesWins) {
  EXPECT_EQ(find_option(parse_strategy("bump:size=1,size=2"), "size"), "2");
}

TEST(Registry, AnUnknownNameGetsTheNearestOne) {
  EXPECT_EQ(parse_complaint("torhc"),
            "unknown strategy 'torhc'; did you mean 'torch'? (memreplay list strategies)");
  EXPECT_EQ(parse_complaint("xyzzyplugh"),
            "unknown strategy 'xyzzyplugh' (memreplay list strategies)");
}

TEST(Registry, AnUnknownKeyGetsTheNearestOne) {
  EXPECT_EQ(parse_complaint("torch:max_split=3"),
            "strategy 'torch' has no option 'max_split'; did you mean 'max_split_size_mb'? "
            "(memreplay list strategies torch)");
  EXPECT_EQ(parse_complaint("bump:siez=3"),
            "strategy 'bump' has no option 'siez'; did you mean 'size'? "
            "(memreplay list strategies bump)");
}

TEST(Registry, AnOptionWithoutAValueIsRefused) {
  EXPECT_EQ(parse_complaint("bump:size"),
            "strategy 'bump': option 'size' has no value; expected size=VALUE");
}

TEST(Registry, BracketsThatDoNotMatchAreRefused) {
  EXPECT_EQ(parse_complaint("bump:size=[1,2"),
            "strategy 'bump:size=[1,2': expected ']' at the end");
  EXPECT_EQ(parse_complaint("bump:size=1]"), "strategy 'bump:size=1]': ']' closes no open bracket");
}

TEST(Registry, WhatStandsBehindAnAtIsAnOption) {
  const StrategySpec spec = parse_strategy("torch@2.9:max_split_size_mb=128");
  EXPECT_EQ(spec.name, "torch");
  EXPECT_EQ(spec.text, "torch@2.9:max_split_size_mb=128");
  EXPECT_EQ(find_option(spec, "version"), "2.9");
  EXPECT_EQ(find_option(spec, "max_split_size_mb"), "128");
  const StrategySpec wrapper = parse_strategy("offload(torch@2.9):host=1GiB");
  ASSERT_EQ(wrapper.inner.size(), 1u);
  EXPECT_EQ(find_option(wrapper.inner[0], "version"), "2.9");
}

TEST(Registry, AnAtThatSaysNothingIsRefused) {
  EXPECT_EQ(parse_complaint("bfc@2"), "strategy 'bfc' takes no '@'");
  EXPECT_EQ(parse_complaint("torch@"), "strategy 'torch@': expected a version after '@'");
  EXPECT_EQ(parse_complaint("torch@2.9:version=2.6"),
            "strategy 'torch@2.9:version=2.6': '@2.9' and version= say the same; expected one of "
            "them");
}

TEST(Registry, OnlySoManyStrategiesStandInsideOneAnother) {
  const auto nested = [](std::size_t depth) {
    std::string text;
    for (std::size_t i = 1; i < depth; ++i) text += "rmm-binning(";
    return text + "torch" + std::string(depth - 1, ')');
  };
  EXPECT_EQ(parse_strategy(nested(8)).name, "rmm-binning");
  for (const std::size_t depth : {9u, 100'000u}) {
    EXPECT_EQ(parse_complaint(nested(depth)),
              "strategy 'rmm-binning…': more than 8 nested strategies; expected fewer");
  }
}

TEST(Registry, OnlyAWrapperTakesParentheses) {
  EXPECT_EQ(parse_complaint("direct(bump)"),
            "strategy 'direct' takes no other strategy in parentheses");
}

TEST(Registry, ValuesThatMeanNothingNameStrategyKeyAndExpectation) {
  const StrategySpec spec = parse_strategy("free-list:fit=worst,split=maybe,align=many");
  constexpr std::string_view kFits[] = {"first", "best"};
  EXPECT_EQ(complaint([&] { choice_option(spec, "fit", kFits, 0); }),
            "strategy 'free-list': fit is 'worst'; expected first or best");
  EXPECT_EQ(complaint([&] { bool_option(spec, "split", true); }),
            "strategy 'free-list': split is 'maybe'; expected true or false");
  EXPECT_EQ(complaint([&] { size_option(spec, "align", 1); }),
            "strategy 'free-list': align is 'many'; expected a size such as 512MiB");
  EXPECT_EQ(complaint([&] { whole_option(spec, "align", 1); }),
            "strategy 'free-list': align is 'many'; expected a whole number from 0 on");
  EXPECT_EQ(complaint([&] { mebibytes_option(spec, "align", 1); }),
            "strategy 'free-list': align is 'many'; expected a whole number of MiB");
}

TEST(Registry, WhatNeedsRealMemorySaysWhichDeviceHasIt) {
  SimulatedDevice device;
  int needy = 0;
  for (const StrategyInfo& info : strategies()) {
    if (info.needs_device.empty()) continue;
    ++needy;
    const std::string said =
        complaint([&] { make_strategy(parse_strategy(info.name), {.device = device}); });
    EXPECT_TRUE(said.ends_with("--device " + std::string(info.needs_device))) << said;
  }
  EXPECT_EQ(needy, 2);
}

TEST(Registry, EverySettingToTryCanBeMadeAndBeSetInTheOriginal) {
  SimulatedDevice device;
  for (const StrategyInfo& info : strategies()) {
    if (info.settings_to_try == nullptr) continue;
    for (const std::string& setting : info.settings_to_try()) {
      const StrategySpec spec = parse_strategy(std::string(info.name) + ':' + setting);
      EXPECT_NO_THROW(make_strategy(spec, {.device = device})) << spec.text;
      for (const auto& [key, value] : spec.options) {
        EXPECT_NE(info.as_set(spec).find(key), std::string::npos) << spec.text;
      }
    }
  }
}

TEST(Registry, ANameOfOthersLeadsToOneStrategyByAnySpelling) {
  for (const char* name : {"cudaMallocAsync", "cuda_malloc_async", "CUDA-malloc-async"}) {
    EXPECT_EQ(strategy_known_as(name), "cuda-async");
    EXPECT_NE(parse_complaint(name).find("did you mean 'cuda-async'?"), std::string::npos);
  }
  EXPECT_EQ(strategy_known_as("buddy"), std::nullopt);
  std::set<std::string_view> known;
  for (const StrategyInfo& info : strategies()) {
    for (const OtherName& other : info.known_as) {
      EXPECT_TRUE(known.insert(other.name).second) << other.name;
      const auto meant = strategy_known_as(other.name);
      ASSERT_TRUE(meant) << other.name;
      EXPECT_EQ(parse_strategy(*meant).name, info.name);
    }
  }
}

TEST(Registry, WhatIsTakenAtOnceIsSetByAnOptionThatIsThere) {
  for (const StrategyInfo& info : strategies()) {
    if (info.takes_at_once.empty()) continue;
    EXPECT_EQ(std::ranges::count(info.options, info.takes_at_once, &OptionInfo::key), 1)
        << info.name;
  }
}

TEST(Registry, EveryRowOfACompareIsARowOnSomeDeviceAndHasAGroup) {
  for (const StrategyInfo& info : strategies()) {
    for (const Preset& preset : info.presets) {
      EXPECT_GT(preset.group + preset.pinned_group, 0u) << info.name;
      const std::string options =
          preset.options_for ? preset.options_for(Bytes{1} << 30) : std::string(preset.options);
      EXPECT_NO_THROW(parse_strategy(std::string(info.name) + ':' + options)) << info.name;
    }
    if (info.fits.empty()) continue;
    EXPECT_EQ(std::ranges::count(info.options, info.fits, &OptionInfo::key), 1) << info.name;
  }
}

TEST(Registry, NamesAreUniqueAndEverythingHasASentence) {
  std::vector<std::string_view> names;
  for (const StrategyInfo& info : strategies()) {
    EXPECT_EQ(std::count(names.begin(), names.end(), info.name), 0);
    names.push_back(info.name);
    EXPECT_FALSE(info.summary.empty());
    for (const OptionInfo& option : info.options) EXPECT_FALSE(option.sentence.empty());
  }
}

}  // namespace
}  // namespace memreplay
