#include "strategy/torch/passed_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace memreplay::torch {
namespace {

constexpr int kResetsRounding = 11;  ///< with large_segment_size_mb: 2.10.0 does not yet

bool names_option(const std::vector<ConfEntry>& entries, std::string_view key) {
  return std::ranges::find(entries, key, &ConfEntry::key) != entries.end();
}

void refuse_errors(const SettingIssues& issues) {
  if (const SettingIssue* error = first_error(issues)) throw UsageError("--set: " + error->text);
}

}  // namespace

PassedSettings::PassedSettings(const StrategySpec& spec, const RecordedSettings* recorded,
                               const TorchModel& model)
    : first_(model) {
  SettingIssues ignored;
  first_entries_ = spec.name == "recorded" ? entries_read(recorded->conf, model.release)
                                           : entries_of_options(spec, model.release, ignored);
  held_ = first_entries_;
  if (pass_entries(first_entries_) != model.settings) {
    throw UsageError(
        "--set: the settings of this recording are not all in its configuration string; expected "
        "-s torch:… with them");
  }
}

std::vector<ConfEntry> PassedSettings::split(std::string_view conf) const {
  SettingIssues issues;
  std::vector<ConfEntry> entries = split_conf(conf, first_.release, issues);
  refuse_errors(issues);
  return entries;
}

bool PassedSettings::set_back_by_every_string(const ConfEntry& entry) const {
  return entry.key == "max_split_size_mb" || entry.key == "roundup_power2_divisions" ||
         entry.key == "garbage_collection_threshold" ||
         (entry.key == "max_non_split_rounding_mb" && first_.release.has(kResetsRounding));
}

Settings PassedSettings::pass_entries(const std::vector<ConfEntry>& entries) {
  std::erase_if(held_, [&](const ConfEntry& held) {
    return set_back_by_every_string(held) || names_option(entries, held.key);
  });
  held_.insert(held_.end(), entries.begin(), entries.end());
  SettingIssues issues;
  Settings settings = read_settings(held_, first_.release, issues);
  refuse_errors(issues);
  settings.request_padding = first_.settings.request_padding;
  settings.large_alignment = first_.settings.large_alignment;
  settings.memory_limit = first_.settings.memory_limit;
  return settings;
}

Settings PassedSettings::pass(std::string_view conf) {
  const std::vector<ConfEntry> entries = split(conf);
  for (const char* key : {"per_process_memory_fraction", "backend"}) {
    if (names_option(entries, key)) {
      throw UsageError(fmt::format("--set: {} cannot change on the way; expected it in -s", key));
    }
  }
  return pass_entries(entries);
}

Settings PassedSettings::pass_the_first() { return pass_entries(first_entries_); }

std::vector<ConfEntry> PassedSettings::set_back_by(std::string_view conf) const {
  std::vector<ConfEntry> back = first_entries_;
  const std::vector<ConfEntry> entries = split(conf);
  std::erase_if(back, [&](const ConfEntry& entry) {
    return !set_back_by_every_string(entry) || names_option(entries, entry.key);
  });
  return back;
}

std::vector<ConfEntry> PassedSettings::left_by(std::string_view conf) const {
  std::vector<ConfEntry> left = split(conf);
  std::erase_if(left, [&](const ConfEntry& entry) {
    return set_back_by_every_string(entry) || names_option(first_entries_, entry.key);
  });
  return left;
}

}  // namespace memreplay::torch
