#include "strategy/torch/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;
using Issues = std::vector<SettingIssue>;

enum class Kind { megabytes, fraction, boolean, count, table, word };

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
    OptionRule{"pinned_num_register_threads", 2, Kind::count},
    OptionRule{"max_non_split_rounding_mb", 6, Kind::megabytes},
    OptionRule{"pinned_use_background_threads", 6, Kind::boolean},
    OptionRule{"pinned_reserve_segment_size_mb", 10, Kind::megabytes},
    OptionRule{"graph_capture_record_stream_reuse", 10, Kind::boolean},
    OptionRule{"per_process_memory_fraction", 10, Kind::fraction},
    OptionRule{"large_segment_size_mb", 11, Kind::megabytes},
    OptionRule{"throw_on_cudamalloc_oom", 12, Kind::boolean},
    OptionRule{"pinned_free_catch_all", 12, Kind::boolean},
    OptionRule{"pinned_max_round_threshold_mb", 13, Kind::megabytes},
    OptionRule{"pinned_max_cached_size_mb", 13, Kind::megabytes},
    OptionRule{"expandable_segments_reserve", 15, Kind::word},
    OptionRule{"expandable_segments_reserve_by_class", 15, Kind::word},
};

constexpr int kUnifiedConfig = 9;          // the parser rewritten for all accelerators
constexpr int kTailStartsBehindLast = 10;  // "[…,>:v]" no longer overwrites the last named entry

// What a rule may look at and where it complains.
struct Parse {
  const Release& release;
  Issues& issues;

  void error(const ConfEntry& entry, std::string_view expected) const {
    issues.push_back({Severity::error,
                      fmt::format("{} is '{}'; expected {}", entry.key, entry.value, expected)});
  }
  void warning(std::string text) const { issues.push_back({Severity::warning, std::move(text)}); }
};

// Numbers are read as far as they go, as the C library's stoull and stod do.
std::optional<Bytes> whole_prefix(const Parse& parse, const ConfEntry& entry) {
  std::string_view text = entry.value;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  Bytes value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) {
    parse.error(entry, "a whole number");
    return std::nullopt;
  }
  if (stop != text.data() + text.size()) {
    parse.warning(fmt::format("{} is '{}': PyTorch reads only the number in front, {}", entry.key,
                              entry.value, value));
  }
  return negative ? Bytes{0} - value : value;
}

std::optional<Bytes> megabytes(const Parse& parse, const ConfEntry& entry) {
  const auto value = whole_prefix(parse, entry);
  if (!value) return std::nullopt;
  return std::min(*value, UINT64_MAX / kMiB) * kMiB;
}

std::optional<double> number(const Parse& parse, const ConfEntry& entry) {
  double value = 0;
  const char* end = entry.value.data() + entry.value.size();
  const auto [stop, code] = std::from_chars(entry.value.data(), end, value);
  if (code != std::errc{} || !std::isfinite(value)) {
    parse.error(entry, "a number");
    return std::nullopt;
  }
  return value;
}

std::optional<bool> boolean(const Parse& parse, const ConfEntry& entry) {
  if (entry.value == "True") return true;
  if (entry.value == "False") return false;
  parse.error(entry, "True or False");
  return std::nullopt;
}

std::optional<std::uint32_t> divisions(std::string_view text, bool zero_allowed) {
  const auto value = parse_whole(text);
  if (!value || *value > UINT32_MAX) return std::nullopt;
  const bool legal = *value == 0 ? zero_allowed : std::has_single_bit(*value);
  return legal ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

void read_table(const Parse& parse, const ConfEntry& entry, RoundupTable& table) {
  table.fill(0);
  std::string_view text = entry.value;
  if (!text.starts_with('[')) {
    const auto all = divisions(text, false);
    if (!all) return parse.error(entry, "a power of two, or a list [256:1,512:2,>:4]");
    return table.fill(*all);
  }
  text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  bool first = true;
  std::size_t last = 0;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t colon = item.find(':');
    const auto value = divisions(colon == item.npos ? "" : item.substr(colon + 1), true);
    const std::string_view key = item.substr(0, std::min(colon, item.size()));
    const std::uint64_t lower = parse_whole(key).value_or(0);
    if (!value || (key != ">" && !std::has_single_bit(lower))) {
      return parse.error(entry,
                         "pairs SIZE:DIVISIONS in brackets, both powers of two, SIZE in MiB or >");
    }
    if (key == ">") {
      const std::size_t from = last + (parse.release.has(kTailStartsBehindLast) ? 1 : 0);
      for (std::size_t i = from; i < table.size(); ++i) table[i] = *value;
      continue;
    }
    const std::size_t index = std::min<std::size_t>(std::bit_width(lower) - 1, table.size() - 1);
    if (first) std::fill_n(table.begin(), index, *value);
    first = false;
    table[index] = *value;
    last = index;
  }
}

void read_limit(const Parse& parse, const ConfEntry& entry, Bytes large_segment, Bytes& limit) {
  const auto value = megabytes(parse, entry);
  if (!value) return;
  if (parse.release.has(kUnifiedConfig) ? *value < large_segment : *value <= kLargeBuffer) {
    return parse.error(entry,
                       parse.release.has(kUnifiedConfig)
                           ? fmt::format("{} (large_segment_size_mb) or more", large_segment / kMiB)
                           : "more than 20");
  }
  limit = *value;
}

void read_fraction(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const auto value = number(parse, entry);
  if (!value) return;
  if (entry.key == "garbage_collection_threshold") {
    if (*value <= 0 || *value >= 1)
      return parse.error(entry, "a number between 0 and 1, both excluded");
    settings.garbage_collection_threshold = *value;
  } else {
    if (*value < 0 || *value > 1) return parse.error(entry, "a number from 0 to 1");
    settings.per_process_memory_fraction = *value;
  }
}

void read_boolean(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const auto value = boolean(parse, entry);
  if (!value) return;
  if (entry.key == "expandable_segments") settings.expandable_segments = *value;
  if (entry.key == "throw_on_cudamalloc_oom") settings.throw_on_cudamalloc_oom = *value;
}

void read_word(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  if (entry.key == "expandable_segments_reserve") {
    settings.expandable_segments_reserve = entry.value;
  } else if (entry.key == "backend") {
    if (entry.value != "native" && entry.value != "cudaMallocAsync" &&
        entry.value != "hipMallocAsync") {
      return parse.error(entry, "native or cudaMallocAsync");
    }
    settings.backend = entry.value;
  }
}

void read_megabytes(const Parse& parse, const ConfEntry& entry, Settings& settings) {
  const Bytes large = settings.large_segment_size;
  if (entry.key == "max_split_size_mb") {
    read_limit(parse, entry, large, settings.max_split_size);
  } else if (entry.key == "max_non_split_rounding_mb") {
    read_limit(parse, entry, large, settings.max_non_split_rounding_size);
  } else if (entry.key != "large_segment_size_mb") {
    megabytes(parse, entry);  // pinned host memory: checked, no effect on device memory
  }
}

void read_count(const Parse& parse, const ConfEntry& entry) {
  const auto value = whole_prefix(parse, entry);
  if (value && (!std::has_single_bit(*value) || *value > 128)) {
    parse.error(entry, "a power of two up to 128");
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
    case Kind::count:
      return read_count(parse, entry);
    case Kind::table:
      return read_table(parse, entry, settings.roundup_power2_divisions);
    case Kind::word:
      return read_word(parse, entry, settings);
  }
}

const OptionRule* find_rule(const Parse& parse, const ConfEntry& entry) {
  const auto rule = std::ranges::find(kOptions, entry.key, &OptionRule::key);
  if (rule != kOptions.end() && parse.release.has(rule->since)) return &*rule;
  if (rule != kOptions.end()) {
    parse.issues.push_back(
        {Severity::error, fmt::format("'{}' is known from PyTorch 2.{} on, not to {}", entry.key,
                                      rule->since, parse.release.text())});
    return nullptr;
  }
  std::vector<std::string> known;
  for (const OptionRule& option : kOptions) known.emplace_back(option.key);
  parse.issues.push_back({Severity::error, fmt::format("PyTorch has no allocator option '{}'{}",
                                                       entry.key, did_you_mean(entry.key, known))});
  return nullptr;
}

void warn_of_conflicts(const Settings& settings, const Release& release, Issues& issues) {
  const auto warn = [&](std::string_view text) {
    issues.push_back({Severity::warning, std::string(text)});
  };
  if (settings.expandable_segments && settings.max_split_size != kUnlimited) {
    warn(
        "max_split_size_mb with expandable_segments:True: blocks are split all the same, but free "
        "blocks "
        "from that size on are not used for smaller requests; memory can grow far beyond either "
        "alone");
  }
  if (settings.garbage_collection_threshold > 0 && settings.per_process_memory_fraction >= 1) {
    warn(
        "garbage_collection_threshold acts only under a memory limit (per_process_memory_fraction "
        "below 1, "
        "or set_per_process_memory_fraction in the program)");
  }
  if (settings.throw_on_cudamalloc_oom && settings.per_process_memory_fraction < 1) {
    warn(
        "throw_on_cudamalloc_oom changes nothing beside per_process_memory_fraction: that limit is "
        "tested first");
  }
  if (!release.has(13) && settings.backend == "cudaMallocAsync" && settings.expandable_segments) {
    warn("expandable_segments has no effect with backend:cudaMallocAsync");
  }
}

}  // namespace

std::vector<ConfEntry> split_conf(std::string_view conf) {
  std::string text;
  std::ranges::copy_if(conf, std::back_inserter(text),
                       [](char c) { return c != ' ' && c != '\t' && c != '\n' && c != '\r'; });
  std::vector<ConfEntry> entries;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t colon = text.find_first_of(":,", at);
    if (colon == std::string::npos || text[colon] == ',' || colon == at) {
      throw UsageError(
          fmt::format("'{}' at character {} of the allocator setting; expected key:value",
                      text.substr(at, text.find(',', at) - at), at + 1));
    }
    std::size_t end = text.find(',', colon);
    if (colon + 1 < text.size() && text[colon + 1] == '[') {
      end = text.find(']', colon);
      if (end == std::string::npos) {
        throw UsageError(
            fmt::format("the list of {} has no closing bracket", text.substr(at, colon - at)));
      }
      ++end;
      if (end < text.size() && text[end] != ',') {
        throw UsageError(fmt::format("'{}' at character {} of the allocator setting; expected ','",
                                     text[end], end + 1));
      }
    }
    end = std::min(end, text.size());
    entries.push_back({text.substr(at, colon - at), text.substr(colon + 1, end - colon - 1)});
    at = end + 1;
  }
  return entries;
}

Settings read_settings(const std::vector<ConfEntry>& entries, const Release& release,
                       Issues& issues) {
  const Parse parse{release, issues};
  Settings settings;
  // Whatever its position, the segment size is read first: limits are compared with it.
  for (const ConfEntry& entry : entries) {
    if (entry.key != "large_segment_size_mb" || !release.has(11)) continue;
    const auto size = megabytes(parse, entry);
    if (size && *size > kMinLargeAlloc) {
      settings.large_segment_size = *size;
    } else if (size) {
      parse.error(entry, "more than 10");
    }
  }
  settings.max_non_split_rounding_size = settings.large_segment_size;
  for (const ConfEntry& entry : entries) {
    if (const OptionRule* rule = find_rule(parse, entry))
      read_entry(parse, entry, rule->kind, settings);
  }
  return settings;
}

Settings settings_of(const RecordedSettings& recorded, const Release& release) {
  Issues ignored;
  Settings settings;
  try {
    settings = read_settings(split_conf(recorded.conf), release, ignored);
  } catch (const UsageError&) {
    // PyTorch accepted this string or never saw it; the values below are what held.
  }
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
  return settings;
}

Issues lint_settings(std::string_view conf, std::string_view torch_version) {
  const Release release = parse_release(torch_version);
  Issues issues;
  try {
    const Settings settings = read_settings(split_conf(conf), release, issues);
    warn_of_conflicts(settings, release, issues);
  } catch (const UsageError& error) {
    issues.push_back({Severity::error, error.what()});
  }
  return issues;
}

}  // namespace memreplay::torch

namespace memreplay {

StrategySpec torch_spec_from_conf(std::string_view conf) {
  StrategySpec spec;
  spec.name = "torch";
  spec.text = conf.empty() ? "torch" : fmt::format("torch:{}", conf);
  for (auto& [key, value] : torch::split_conf(conf)) spec.options.emplace_back(key, value);
  return spec;
}

}  // namespace memreplay
