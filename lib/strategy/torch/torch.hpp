#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategy/registry.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

/// PyTorch's native CUDA caching allocator under settings of one's own.
StrategyInfo torch_strategy();

/// The allocator of `torch` or `recorded`.
std::unique_ptr<Strategy> make_torch(const StrategySpec& spec, const StrategyContext& context);

/// The settings and the release that `torch` or `recorded` would be made with; unset for another
/// strategy. Throws UsageError for settings that PyTorch refuses.
struct TorchModel {
  torch::Settings settings;
  torch::Release release;
};
std::optional<TorchModel> torch_model(const StrategySpec& spec, const RecordedSettings* recorded);

namespace torch {

/// The options of a `torch` as its configuration string has them.
std::vector<ConfEntry> entries_of_options(const StrategySpec& spec, const Release& release,
                                          SettingIssues& issues);

/// The first release, from that one on, that takes the options of every `torch` in the strategy;
/// that one where none does. Unset: PyTorch's allocator is no part of it.
std::optional<Release> release_that_reads(const StrategySpec& spec, const Release& from);

}  // namespace torch

}  // namespace memreplay
