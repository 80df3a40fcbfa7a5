#include <algorithm>
#include <iterator>

#include "core/text.hpp"
#include "device/cost_model.hpp"
#include "device/simulated_device.hpp"
#include "extensions/calibrate/answer.hpp"
#include "extensions/ranks/answer.hpp"
#include "fuzz/fuzz_target.hpp"
#include "questions/check/baseline_file.hpp"
#include "run/cost_profile.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/lint.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

using Texts = std::vector<std::string>;

const std::string kProfile = R"({"schema": ")" + std::string(kProfileSchema) + R"(", "device": {},
  "calls": {"alloc": {"sizes": [{"bytes": 1024, "p50_ms": 1}, {"bytes": 3072, "p50_ms": 2.5}]},
            "free": {"sizes": [{"bytes": 1, "p50_ms": 0.5e-1}], "waits_for_device": true},
            "map": {"sizes": []}, "unmap": {"sizes": []}}})";

Texts bundled_baselines() {
  Texts found;
  for (const std::string& text : bundled_files()) {
    if (text.find("memreplay-baseline/") != text.npos) found.push_back(text);
  }
  return found;
}

void read_profile(std::string_view bytes) {
  const CostModel cost = parse_cost_profile("fuzz", std::string(bytes));
  for (const CostCurve* curve : {&cost.alloc, &cost.free, &cost.map, &cost.unmap}) {
    for (const Bytes size : {Bytes{0}, kMiB, ~Bytes{0}}) curve->ms(size);
  }
}

void read_baseline_and_write_it(std::string_view bytes) {
  const Baseline baseline = parse_baseline("fuzz", std::string(bytes));
  parse_baseline("written", baseline_text(baseline));
}

/// What shards of bundled ranks come to.
Texts part_seeds() {
  Texts parts;
  for (const std::size_t number : {1, 2}) {
    RanksQuestion question{.input = {.paths = {bundled_file("torch/batch_2.pickle.gz"),
                                               bundled_file("torch/batch_4.pickle.gz")}},
                           .jobs = 1,
                           .shard = {number, 2}};
    parts.push_back(part_text(ranks_part(question, {})));
  }
  return parts;
}

void read_part_and_write_it(std::string_view bytes) {
  parse_part("written", part_text(parse_part("fuzz", std::string(bytes))));
}

// Of simulated memory only: others would run what a specification names.
bool is_simulated(const StrategySpec& spec) {
  for (const StrategyInfo& info : strategies()) {
    if (info.name == spec.name && !info.needs_device.empty()) return false;
  }
  for (const StrategySpec& inner : spec.inner) {
    if (!is_simulated(inner)) return false;
  }
  return true;
}

void make_specified(std::string_view bytes) {
  const StrategySpec spec = parse_strategy(bytes);
  joins_regions(spec);
  stitched_chunk(spec);
  const auto wish = plan_wish(spec);
  if (wish || !is_simulated(spec)) return;
  SimulatedDevice device({.capacity = 16 * kGiB});
  const auto made = make_strategy(spec, {.device = device, .capacity = 16 * kGiB});
  if (const auto placed = made->allocate({.size = kMiB})) made->free(placed->handle, {});
}

Texts strategy_seeds() {
  Texts seeds;
  for (const StrategyInfo& info : strategies()) {
    const std::string name(info.example.empty() ? info.name : info.example);
    seeds.push_back(name);
    for (const OptionInfo& option : info.options) {
      seeds.push_back(name + ":" + std::string(option.key) + "=" +
                      std::string(option.default_value));
    }
  }
  return seeds;
}

/// One inside the other, more than may be and more than a stack would bear.
Texts nested_strategies() {
  Texts seeds;
  for (const std::size_t depth : {3, 9, 100'000}) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "offload(";
    seeds.push_back(text + "bfc" + std::string(depth, ')'));
  }
  return seeds;
}

Texts strategy_words() {
  Texts texts = strategy_seeds();
  for (const StrategyInfo& info : strategies()) {
    for (const OptionInfo& option : info.options) texts.emplace_back(option.values);
  }
  Texts words = words_in(texts);
  for (const char* mark : {":", "=", ",", "(", ")", "[", "]", ">:", "GiB", "MiB"}) {
    words.emplace_back(mark);
  }
  return words;
}

void read_conf_of_every_release(std::string_view bytes) {
  for (const char* version : {"", "2.0", "2.6", "2.9", "2.10"}) {
    torch::SettingIssues issues;
    torch::read_conf(bytes, torch::parse_release(version), issues);
    torch::lint_settings(bytes, version);
  }
  torch_spec_from_conf(bytes);
}

Texts conf_seeds() {
  Texts seeds = {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8],expandable_segments:True",
                 "garbage_collection_threshold:0.6,max_split_size_mb:128"};
  for (const StrategyInfo& info : strategies()) {
    if (info.name != "torch") continue;
    for (const OptionInfo& option : info.options) {
      seeds.push_back(std::string(option.key) + ":" + std::string(option.default_value));
    }
  }
  return seeds;
}

}  // namespace

Texts simulated_strategies() {
  Texts specs = strategy_seeds();
  std::erase_if(specs, [](const auto& text) { return !is_simulated(parse_strategy(text)); });
  return specs;
}

std::vector<FuzzTarget> text_targets() {
  const Texts baselines = bundled_baselines(), parts = part_seeds();
  Texts specs = strategy_seeds();
  std::ranges::move(nested_strategies(), std::back_inserter(specs));
  return {
      {"baseline", read_baseline_and_write_it, baselines, words_in(baselines)},
      {"cost-profile", read_profile, {kProfile}, words_in({kProfile})},
      {"part", read_part_and_write_it, parts, words_in(parts)},
      {"strategy", make_specified, specs, strategy_words()},
      {"alloc-conf", read_conf_of_every_release, conf_seeds(), strategy_words()},
  };
}

}  // namespace memreplay
