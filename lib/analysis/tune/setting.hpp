#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/tune/answer.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/conf.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

/// The names of the options that a search varies.
std::span<const std::string_view> varied_options();

/// The varied options that torch_npu does not read.
std::span<const std::string_view> options_unknown_to_npu();

/// Options that differ from their defaults.
int option_count(const Setting& setting);

/// The number of such options, with a list of roundings counted by its pairs: how much there is to
/// explain.
int complexity(const Setting& setting);

/// Options as they stand in PYTORCH_CUDA_ALLOC_CONF.
std::string conf_of(const std::vector<torch::ConfEntry>& entries);

/// The strategy under which a setting of this search is replayed.
StrategySpec spec_of(const TuneResult& result, const Setting& setting);

/// The setting that a configuration comes to, as far as a search varies it.
Setting setting_of(const torch::Settings& settings);

/// The options of a configuration that a search leaves as they are, but for those that the rules
/// do not read.
std::vector<torch::ConfEntry> kept_options(const std::string& conf, const torch::Release& release);

}  // namespace memreplay
