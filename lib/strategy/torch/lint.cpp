#include "strategy/torch/lint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <set>

#include "strategy/torch/numbers.hpp"
#include "strategy/torch/roundup.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

// A string, as it was read, in which to look for options that fight each other.
struct Reading {
  const std::vector<ConfEntry>& entries;
  const Release& release;
  const Settings& settings;
  SettingIssues& issues;

  void warn(std::string text) const { issues.push_back({Severity::warning, std::move(text)}); }
  const ConfEntry* last(std::string_view key) const {
    const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                    [&](const ConfEntry& entry) { return entry.key == key; });
    return found == entries.rend() ? nullptr : &*found;
  }
  bool names(std::string_view key) const { return last(key) != nullptr; }
  bool turns_on(std::string_view key) const {
    const ConfEntry* entry = last(key);
    return entry != nullptr && entry->value == "True";
  }
};

void warn_of_repetition(const Reading& r) {
  std::set<std::string_view> seen;
  std::set<std::string_view> said;
  for (const ConfEntry& entry : r.entries) {
    if (seen.insert(entry.key).second || !said.insert(entry.key).second) continue;
    const bool table = entry.key == "roundup_power2_divisions";
    r.warn(fmt::format(
        "{} is given more than once; {}", entry.key,
        table ? "a later list changes only the entries that it names" : "the last one is used"));
  }
}

void warn_of_other_backend(const Reading& r) {
  constexpr std::string_view kNativeOnly[] = {
      "max_split_size_mb",           "max_non_split_rounding_mb",
      "large_segment_size_mb",       "garbage_collection_threshold",
      "roundup_power2_divisions",    "expandable_segments",
      "expandable_segments_reserve", "expandable_segments_reserve_by_class",
      "per_process_memory_fraction", "throw_on_cudamalloc_oom",
  };
  std::vector<std::string_view> idle;
  std::ranges::copy_if(kNativeOnly, std::back_inserter(idle),
                       [&](std::string_view key) { return r.names(key); });
  if (idle.empty()) return;
  r.warn(fmt::format("backend:cudaMallocAsync leaves memory to the driver; no effect: {}",
                     fmt::join(idle, ", ")));
}

void warn_of_limits(const Reading& r) {
  const Settings& s = r.settings;
  const bool collects = s.garbage_collection_threshold > 0;
  if (collects && s.expandable_segments) {
    r.warn(
        "garbage_collection_threshold frees whole segments only; with expandable_segments:True "
        "there are none");
  } else if (collects && s.per_process_memory_fraction >= 1) {
    r.warn(fmt::format("garbage_collection_threshold acts only under a memory limit: {}",
                       r.release.has(kNewParser)
                           ? "per_process_memory_fraction below 1, or "
                             "torch.cuda.set_per_process_memory_fraction in the program"
                           : "call torch.cuda.set_per_process_memory_fraction in the program"));
  }
  if (s.throw_on_cudamalloc_oom && s.per_process_memory_fraction < 1) {
    r.warn(
        "throw_on_cudamalloc_oom changes nothing beside per_process_memory_fraction: that limit "
        "is tested first");
  }
  if (s.per_process_memory_fraction <= 0) {
    r.warn("per_process_memory_fraction:0 is legal and refuses every allocation");
  }
}

void warn_of_split_limit(const Reading& r) {
  const Settings& s = r.settings;
  if (s.expandable_segments && s.max_split_size != kUnlimited) {
    r.warn(
        "max_split_size_mb with expandable_segments:True: blocks are split all the same, but free "
        "blocks from that size on are not used for smaller requests; memory can grow far beyond "
        "either alone");
  }
  if (r.names("max_non_split_rounding_mb") && s.max_split_size == kUnlimited) {
    r.warn("max_non_split_rounding_mb has no effect without max_split_size_mb");
  }
}

void warn_of_reserve(const Reading& r) {
  for (const char* key : {"expandable_segments_reserve", "expandable_segments_reserve_by_class"}) {
    if (r.names(key) && !r.settings.expandable_segments) {
      r.warn(fmt::format("{} has no effect without expandable_segments:True", key));
    }
  }
  if (r.names("expandable_segments_reserve_by_class")) {
    r.warn(
        "expandable_segments_reserve_by_class affects only streams to which the program gives a "
        "class; a replay has none");
  }
}

void warn_of_roundup(const Reading& r) {
  const ConfEntry* entry = r.last("roundup_power2_divisions");
  if (entry == nullptr) return;
  const RoundupTable& table = r.settings.roundup_power2_divisions;
  if (!r.release.has(1) && std::ranges::find(table, 1u) != table.end()) {
    r.warn("roundup_power2_divisions: with one division PyTorch 2.0 does not round at all");
  } else if (std::ranges::all_of(table, [](std::uint32_t divisions) { return divisions <= 1; })) {
    return r.warn(fmt::format("{}:{} has no effect: sizes are rounded to 512 bytes anyway",
                              entry->key, entry->value));
  }
  if (!entry->value.starts_with('[')) return;
  if (std::ranges::adjacent_find(table, std::not_equal_to{}) != table.end()) {
    r.warn(
        fmt::format("roundup_power2_divisions: a size in the list is where its divisions begin, "
                    "contrary to the documentation: {}",
                    roundup_in_words(table)));
  }
  const bool is_new = r.release.has(kNewParser);
  const Release other = is_new ? Release{2, kNewParser - 1, 0} : Release{2, kNewParser, 0};
  SettingIssues ignored;
  RoundupTable otherwise{};
  for (const ConfEntry& each : r.entries) {
    if (each.key == entry->key) read_roundup(each, other, otherwise, ignored);
  }
  if (otherwise != table && ignored.empty()) {
    r.warn(fmt::format("roundup_power2_divisions: {} reads '>' differently: {}",
                       is_new ? "PyTorch up to 2.9" : "PyTorch from 2.10 on",
                       roundup_in_words(otherwise)));
  }
}

void warn_of_pinned_limits(const Reading& r) {
  const ConfEntry* const kept = r.last("pinned_max_cached_size_mb");
  const ConfEntry* const rounded = r.last("pinned_max_round_threshold_mb");
  if (kept == nullptr) return;
  const auto value = [&](const ConfEntry* entry) {
    return entry == nullptr ? UINT64_MAX : whole_prefix(entry->value, r.release)->value;
  };
  const std::uint64_t most = value(kept);
  if (rounded != nullptr && value(rounded) >= most) {
    r.warn(
        fmt::format("pinned_max_round_threshold_mb:{} has no effect beside "
                    "pinned_max_cached_size_mb:{}: larger "
                    "requests are not rounded up",
                    value(rounded), most));
  }
  const std::uint64_t power = std::bit_floor(most);
  if (most > power && value(rounded) > power && most <= UINT64_MAX / kMiB) {
    r.warn(fmt::format(
        "pinned_max_cached_size_mb:{0}: a request above {1} MiB and up to {2} MiB is rounded up to "
        "{3} MiB, and so not kept when it is freed; with pinned_max_round_threshold_mb:{1} it is",
        most, power, std::min(most, value(rounded)), 2 * power));
  }
}

void warn_of_others(const Reading& r) {
  if (r.turns_on("graph_capture_record_stream_reuse")) {
    r.warn(
        "graph_capture_record_stream_reuse decides when blocks come free during a capture; a "
        "replay follows the frees of the recording instead");
  }
  const ConfEntry* threads = r.last("pinned_num_register_threads");
  if (threads != nullptr && threads->value != "1" && !r.turns_on("pinned_use_cuda_host_register") &&
      !r.turns_on("pinned_use_hip_host_register")) {
    r.warn("pinned_num_register_threads has no effect without pinned_use_cuda_host_register:True");
  }
}

}  // namespace

SettingIssues lint_settings(std::string_view conf, std::string_view version) {
  const Release release = parse_release(version);
  SettingIssues issues;
  const std::vector<ConfEntry> entries = split_conf(conf, release, issues);
  const Settings settings = read_settings(entries, release, issues, Purpose::lint);
  if (first_error(issues) != nullptr) return issues;
  const Reading reading{entries, release, settings, issues};
  warn_of_repetition(reading);
  if (settings.backend != "native") {
    warn_of_other_backend(reading);
  } else {
    warn_of_limits(reading);
    warn_of_split_limit(reading);
    warn_of_reserve(reading);
    warn_of_roundup(reading);
  }
  warn_of_pinned_limits(reading);
  warn_of_others(reading);
  return issues;
}

}  // namespace memreplay::torch
