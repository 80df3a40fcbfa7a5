#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "strategy/torch/torch.hpp"

namespace memreplay::torch {

/// The settings of a program that passes configuration strings on its way, as
/// `torch.cuda.memory._set_allocator_settings` takes them. Each string sets back the limits of
/// splitting, the roundings and the threshold of collections; other options that it does not name
/// stay as they are.
class PassedSettings {
 public:
  /// Begins as `torch` or `recorded` does. Throws UsageError for other strategies, and where the
  /// settings of a recording are not all in its string.
  PassedSettings(const StrategySpec& spec, const RecordedSettings* recorded,
                 const TorchModel& model);

  /// After that string was passed. Throws UsageError for what PyTorch refuses, and for options that
  /// are read at the start alone.
  Settings pass(std::string_view conf);
  /// After the program passed what it began with once more.
  Settings pass_the_first();

  /// Options of the first string that are set back while another one holds.
  std::vector<ConfEntry> set_back_by(std::string_view conf) const;
  /// Options of a string that stay when the first one is passed again.
  std::vector<ConfEntry> left_by(std::string_view conf) const;

 private:
  bool set_back_by_every_string(const ConfEntry& entry) const;
  std::vector<ConfEntry> split(std::string_view conf) const;
  Settings pass_entries(const std::vector<ConfEntry>& entries);

  TorchModel first_;
  std::vector<ConfEntry> first_entries_;
  std::vector<ConfEntry> held_;  ///< all that holds now, later ones over earlier ones
};

}  // namespace memreplay::torch
