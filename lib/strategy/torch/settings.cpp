#include "strategy/torch/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "core/units.hpp"
#include "strategy/torch/numbers.hpp"
#include "strategy/torch/roundup.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

enum class Kind { megabytes, fraction, boolean, threads, table, word };

struct OptionRule {
  std::string_view key;
  int since;  ///< 2.SINCE knows it
  Kind kind;
};

constexpr std::array kOptions{
    OptionRule{"backend", 0, Kind::word},
    OptionRule{"max_split_size_mb", 0, Kind::megabytes},
    OptionRule{"garbage_collection_threshold", 0, Kind::fraction},
    OptionRule{"roundup_power2_divisions", 0, Kind::table},
    OptionRule{"expandable_segments", 1, Kind::boolean},
    OptionRule{"release_lock_on_cudamalloc", 2, Kind::boolean},
    OptionRule{"release_lock_on_hipmalloc", 2, Kind::boolean},
    OptionRule{"pinned_use_cuda_host_register", 2, Kind::boolean},
    OptionRule{"pinned_use_hip_host_register", 2, Kind::boolean},
    OptionRule{"pinned_num_register_threads", 2, Kind::threads},
    OptionRule{"max_non_split_rounding_mb", 6, Kind::megabytes},
    OptionRule{"pinned_use_background_threads", 6, Kind::boolean},
    OptionRule{"graph_capture_record_stream_reuse", 9, Kind::boolean},
    OptionRule{"pinned_reserve_segment_size_mb", 10, Kind::megabytes},
    OptionRule{"per_process_memory_fraction", 10, Kind::fraction},
    OptionRule{"large_segment_size_mb", 11, Kind::megabytes},
    OptionRule{"throw_on_cudamalloc_oom", 12, Kind::boolean},
    OptionRule{"pinned_free_catch_all", 12, Kind::boolean},
    OptionRule{"pinned_max_round_threshold_mb", 13, Kind::megabytes},
    OptionRule{"pinned_max_cached_size_mb", 13, Kind::megabytes},
    OptionRule{"expandable_segments_reserve", 15, Kind::word},
    OptionRule{"expandable_segments_reserve_by_class", 15, Kind::word},
};

constexpr int kFractionOption = 10;  // before, only a call could limit the memory
// No device is as large, and sums of it do not wrap.
constexpr Bytes kLargestSegment = Bytes{1} << 60;

// What a rule may look at and where it complains.
struct Parse {
  const Release& release;
  SettingIssues& issues;
  Purpose purpose;

  void error(const ConfEntry& entry, std::string_view expected) const {
    issues.push_back({Severity::error,
                      fmt::format("{} is '{}'; expected {}", entry.key, entry.value, expected)});
  }
  void warning(std::string text) const { issues.push_back({Severity::warning, std::move(text)}); }
};

template <typename T>
void warn_of_rest(const Parse& parse, const ConfEntry& entry, const PrefixNumber<T>& number) {
  if (number.whole_text) return;
  parse.warning(fmt::format("{} is '{}': PyTorch reads only the leading number, {}", entry.key,
                            entry.value, number.value));
}

std::optional<std::uint64_t> whole(const Parse& parse, const ConfEntry& entry) {
  const auto number = whole_prefix(entry.value, parse.release);
  if (!number) {
    parse.error(entry, "a whole number");
    return std::nullopt;
  }
  if (number->negative) {
    parse.warning(fmt::format("{} is '{}': PyTorch reads a negative number as a huge one",
                              entry.key, entry.value));
  } else {
    warn_of_rest(parse, entry, *number);
  }
  return number->value;
}

std::optional<Bytes> megabytes(const Parse& parse, const ConfEntry& entry) {
  const auto value = whole(parse, entry);
  if (!value) return std::nullopt;
  return std::min(*value, UINT64_MAX / kMiB) * kMiB;
}

void read_limit(const Parse& parse, const ConfEntry& entry, Bytes large_segment, Bytes& limit) {
  const auto value = megabytes(parse, entry);
  if (!value) return;
  if (!parse.release.has(kNewParser)) {
    if (*value <= kLargeBuffer) return parse.error(entry, "more than 20");
  } else if (*value < large_segment) {
    return parse.error(entry,
                       fmt::format("{} (large_segment_size_mb) or more", large_segment / kMiB));
  }
  limit = *value;
}

void read_megabytes(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const Bytes large = settings.large_segment_size;
  if (entry.key == "max_split_size_mb") {
    read_limit(parse, entry, large, settings.max_split_size);
  } else if (entry.key == "max_non_split_rounding_mb") {
    read_limit(parse, entry, large, settings.max_non_split_rounding_size);
  } else if (entry.key != "large_segment_size_mb") {
    const auto value = megabytes(parse, entry);  // pinned host memory
    if (value == Bytes{0} && entry.key == "pinned_reserve_segment_size_mb") {
      parse.error(entry, "1 or more");
    }
  }
}

void read_large_segment(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const auto size = megabytes(parse, entry);
  if (!size) return;
  if (*size <= kMinLargeAlloc) return parse.error(entry, "more than 10");
  settings.large_segment_size = std::min(*size, kLargestSegment);
}

void read_fraction(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const auto number = decimal_prefix(entry.value);
  if (!number) return parse.error(entry, "a number");
  warn_of_rest(parse, entry, *number);
  const double value = number->value;
  if (entry.key == "garbage_collection_threshold") {
    if (!(value > 0 && value < 1)) {
      return parse.error(entry, "a number between 0 and 1, both excluded");
    }
    settings.garbage_collection_threshold = value;
  } else {
    if (!(value >= 0 && value <= 1)) return parse.error(entry, "a number from 0 to 1");
    settings.per_process_memory_fraction = value;
    settings.fraction_set_by_call = !parse.release.has(kFractionOption);
  }
}

void read_boolean(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  if (entry.value != "True" && entry.value != "False") return parse.error(entry, "True or False");
  const bool value = entry.value == "True";
  if (entry.key == "expandable_segments") settings.expandable_segments = value;
  if (entry.key == "throw_on_cudamalloc_oom") settings.throw_on_cudamalloc_oom = value;
}

void read_threads(const Parse& parse, const ConfEntry& entry) {
  const auto value = whole(parse, entry);
  if (value && (!std::has_single_bit(*value) || *value > 128)) {
    parse.error(entry, "a power of two up to 128");
  }
}

// "0.5" or "8G", all of it a finite number above zero.
std::optional<std::string> reserve_of(std::string_view text) {
  std::string number(text.substr(text.starts_with('+') ? 1 : 0));
  const bool gibibytes = number.ends_with('G') || number.ends_with('g');
  if (gibibytes) number.pop_back();
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [stop, code] = std::from_chars(number.data(), end, value);
  if (code != std::errc{} || stop != end || !std::isfinite(value) || value <= 0) {
    return std::nullopt;
  }
  return gibibytes ? number + 'G' : number;
}

// What PyTorch cannot read it ignores, with a warning: what was there before stays.
std::optional<std::string> checked_reserve(const Parse& parse, const ConfEntry& entry,
                                           std::string_view text) {
  const auto reserve = reserve_of(text);
  if (!reserve) {
    parse.warning(fmt::format(
        "{}: PyTorch ignores '{}'; it reads a share of the device (0.5) or gibibytes (8G)",
        entry.key, text));
  }
  return reserve;
}

void read_word(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  if (entry.key == "backend") {
    if (entry.value != "native" && entry.value != "cudaMallocAsync") {
      return parse.error(entry, entry.value == "hipMallocAsync"
                                    ? "native or cudaMallocAsync (this name is for ROCm)"
                                    : "native or cudaMallocAsync");
    }
    settings.backend = entry.value;
  } else if (entry.key == "expandable_segments_reserve") {
    if (entry.value.empty() || entry.value.starts_with('[')) {
      return parse.error(entry, "a share of the device (0.5) or gibibytes (8G)");
    }
    const auto reserve = checked_reserve(parse, entry, entry.value);
    if (reserve) settings.expandable_segments_reserve = *reserve;
  } else if (const auto classes = split_list(entry, parse.release, parse.issues)) {
    for (const auto& [name, reserve] : *classes) checked_reserve(parse, entry, reserve);
  }
}

void read_entry(const Parse& parse, const ConfEntry& entry, Kind kind, Settings& settings) {
  switch (kind) {
    case Kind::megabytes:
      return read_megabytes(parse, entry, settings);
    case Kind::fraction:
      return read_fraction(parse, entry, settings);
    case Kind::boolean:
      return read_boolean(parse, entry, settings);
    case Kind::threads:
      return read_threads(parse, entry);
    case Kind::table:
      return read_roundup(entry, parse.release, settings.roundup_power2_divisions, parse.issues);
    case Kind::word:
      return read_word(parse, entry, settings);
  }
}

std::string unknown_option(const std::string& key) {
  std::vector<std::string> known;
  for (const OptionRule& option : kOptions) known.emplace_back(option.key);
  return fmt::format("PyTorch has no allocator option '{}'{}", key,
                     did_you_mean(lower_case(key.substr(0, key.find('='))), known));
}

const OptionRule* find_rule(const Parse& parse, const ConfEntry& entry) {
  const auto rule = std::ranges::find(kOptions, entry.key, &OptionRule::key);
  if (rule == kOptions.end()) {
    parse.issues.push_back({Severity::error, unknown_option(entry.key)});
    return nullptr;
  }
  if (parse.release.has(rule->since)) return &*rule;
  const bool fraction = entry.key == "per_process_memory_fraction";
  if (fraction && parse.purpose == Purpose::replay) return &*rule;
  parse.issues.push_back(
      {Severity::error,
       fmt::format("'{}' is known from PyTorch 2.{} on, not to {}{}", entry.key, rule->since,
                   parse.release.text(),
                   fraction ? "; call torch.cuda.set_per_process_memory_fraction instead" : "")});
  return nullptr;
}

}  // namespace

Settings read_settings(const std::vector<ConfEntry>& entries, const Release& release,
                       SettingIssues& issues, Purpose purpose) {
  const Parse parse{release, issues, purpose};
  Settings settings;
  // Whatever its position, the segment size is read first: limits are compared with it.
  for (const ConfEntry& entry : entries) {
    if (entry.key == "large_segment_size_mb" && release.has(11)) {
      read_large_segment(parse, entry, settings);
    }
  }
  settings.max_non_split_rounding_size = settings.large_segment_size;
  for (const ConfEntry& entry : entries) {
    if (const OptionRule* rule = find_rule(parse, entry)) {
      read_entry(parse, entry, rule->kind, settings);
    }
  }
  return settings;
}

std::vector<ConfEntry> entries_read(std::string_view conf, const Release& release) {
  SettingIssues ignored;
  std::vector<ConfEntry> entries = split_conf(conf, release, ignored);
  std::erase_if(entries, [&](const ConfEntry& entry) {
    SettingIssues issues;
    read_settings({entry}, release, issues);
    return first_error(issues) != nullptr;
  });
  return entries;
}

Settings read_conf(std::string_view conf, const Release& release, SettingIssues& issues) {
  return read_settings(split_conf(conf, release, issues), release, issues);
}

Settings settings_of(const RecordedSettings& recorded, const Release& release) {
  // PyTorch accepted this string; where it did not, the values below are what held.
  SettingIssues ignored;
  Settings settings = read_conf(recorded.conf, release, ignored);
  if (recorded.max_split_size) {
    settings.max_split_size = static_cast<Bytes>(*recorded.max_split_size);
  }
  if (recorded.garbage_collection_threshold) {
    settings.garbage_collection_threshold = *recorded.garbage_collection_threshold;
  }
  if (recorded.expandable_segments) settings.expandable_segments = *recorded.expandable_segments;
  if (recorded.roundup_power2_divisions) {
    settings.roundup_power2_divisions = *recorded.roundup_power2_divisions;
  }
  settings.request_padding = recorded.request_padding;
  // Who pads is torch_npu, and aligns as it does by default.
  settings.large_alignment =
      recorded.large_alignment.value_or(recorded.request_padding > 0 ? 16 * kKiB : 0);
  settings.memory_limit = recorded.memory_limit;
  return settings;
}

std::optional<Bytes> memory_limit(const Settings& settings, const std::function<Bytes()>& total) {
  if (settings.memory_limit) return settings.memory_limit;
  const double fraction = settings.per_process_memory_fraction;
  if (fraction >= 1 && !settings.fraction_set_by_call) return std::nullopt;
  return bytes_of(fraction * static_cast<double>(total()));
}

}  // namespace memreplay::torch

namespace memreplay {

StrategySpec torch_spec_from_conf(std::string_view conf) {
  StrategySpec spec;
  spec.name = "torch";
  spec.text = "torch";
  torch::SettingIssues ignored;  // whoever makes the strategy is told
  char before = ':';
  for (const auto& [key, value] : torch::split_conf(conf, torch::kNewestRelease, ignored)) {
    spec.text += fmt::format("{}{}={}", std::exchange(before, ','), key, value);
  }
  if (!conf.empty()) spec.options.emplace_back(torch::kConfOption, conf);
  return spec;
}

}  // namespace memreplay
