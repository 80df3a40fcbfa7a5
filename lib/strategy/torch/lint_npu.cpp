#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text.hpp"
#include "strategy/torch/lint.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

/// An option that torch_npu alone has; the others are read as PyTorch reads them.
struct NpuOption {
  std::string_view key;
  std::string_view expected;
  bool (*takes)(std::string_view value);
};

bool is_boolean(std::string_view value) { return value == "True" || value == "False"; }

constexpr NpuOption kNpuOptions[] = {
    {"base_addr_aligned_kb", "a whole number from 0 to 16",
     [](std::string_view value) { return parse_whole(value).value_or(17) <= 16; }},
    {"segment_size_mb", "a whole number from 20 to 512",
     [](std::string_view value) {
       const std::uint64_t size = parse_whole(value).value_or(0);
       return size >= 20 && size <= 512;
     }},
    {"page_size", "1g", [](std::string_view value) { return value == "1g"; }},
    {"multi_stream_lazy_reclaim", "True or False", is_boolean},
    {"pinned_mem_register", "True or False", is_boolean},
    {"pin_memory_expandable_segments", "True or False", is_boolean},
};
constexpr std::string_view kShared[] = {
    "max_split_size_mb",          "garbage_collection_threshold",  "expandable_segments",
    "roundup_power2_divisions",   "pinned_use_background_threads", "large_segment_size_mb",
    "per_process_memory_fraction"};

const NpuOption* npu_option(std::string_view key) {
  const auto* const found = std::ranges::find(kNpuOptions, key, &NpuOption::key);
  return found == std::end(kNpuOptions) ? nullptr : found;
}

std::string unknown_to_npu(const std::string& key) {
  std::vector<std::string> known(std::begin(kShared), std::end(kShared));
  for (const NpuOption& option : kNpuOptions) known.emplace_back(option.key);
  return fmt::format("torch_npu has no allocator option '{}'{}", key, did_you_mean(key, known));
}

}  // namespace

bool has_npu_options(std::string_view conf) {
  SettingIssues ignored;
  return std::ranges::any_of(split_conf(conf, kNewestRelease, ignored), [](const ConfEntry& entry) {
    return npu_option(entry.key) != nullptr;
  });
}

SettingIssues lint_npu_settings(std::string_view conf) {
  // It takes a text apart as PyTorch up to 2.9 does.
  SettingIssues issues;
  std::vector<ConfEntry> entries = split_conf(conf, Release{2, kNewParser - 1, 0}, issues);
  std::erase_if(entries, [&](const ConfEntry& entry) {
    if (const NpuOption* own = npu_option(entry.key)) {
      if (!own->takes(entry.value)) {
        issues.push_back({Severity::error, fmt::format("{} is '{}'; expected {}", entry.key,
                                                       entry.value, own->expected)});
      }
    } else if (std::ranges::find(kShared, entry.key) == std::end(kShared)) {
      issues.push_back({Severity::error, unknown_to_npu(entry.key)});
    } else {
      return false;
    }
    return true;
  });
  const Settings settings = read_settings(entries, kNewestRelease, issues, Purpose::lint);
  const bool splits = settings.max_split_size != kUnlimited;
  if (settings.expandable_segments && (splits || settings.garbage_collection_threshold > 0)) {
    issues.push_back({Severity::error,
                      fmt::format("torch_npu refuses {} beside expandable_segments:True",
                                  splits ? "max_split_size_mb" : "garbage_collection_threshold")});
  }
  return issues;
}

SettingIssues lint_separators(std::string_view conf, std::string& meant) {
  struct Mark {
    std::string_view given;
    char expected;
    std::string_view what;
  };
  constexpr std::string_view kOptions = "options are separated by";
  constexpr std::string_view kValue = "an option and its value are separated by";
  constexpr Mark kMarks[] = {
      {";", ',', kOptions}, {"，", ',', kOptions}, {"=", ':', kValue}, {"：", ':', kValue}};
  meant = conf;
  SettingIssues issues;
  for (const Mark& mark : kMarks) {
    const std::size_t at = meant.find(mark.given);
    if (at == meant.npos) continue;
    const std::size_t option = meant.substr(0, at).find_last_of(",;") + 1;  // npos + 1 is 0
    const std::string name = meant.substr(
        option,
        std::min({meant.find_first_of(":=;", option), meant.find("：", option), at}) - option);
    for (std::size_t next = at; (next = meant.find(mark.given, next)) != meant.npos;) {
      meant.replace(next, mark.given.size(), 1, mark.expected);
    }
    issues.push_back(
        {Severity::error,
         fmt::format("'{}' is not a separator: {} '{}', so the value of {} is not what it seems",
                     mark.given, mark.what, mark.expected, name)});
  }
  if (issues.empty()) return issues;
  while (meant.ends_with(',') || meant.ends_with(' ')) meant.pop_back();
  for (std::size_t at = 0; at < meant.size();) {  // options are in lower case
    const std::size_t end = std::min(meant.find(':', at), meant.size());
    meant.replace(at, end - at, lower_case(meant.substr(at, end - at)));
    at = std::min(meant.find(',', end), meant.size() - 1) + 1;
  }
  issues.back().text += fmt::format(". Write {}", meant);
  return issues;
}

}  // namespace memreplay::torch
