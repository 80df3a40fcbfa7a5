#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "strategy/bfc/allocator.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

using bfc::EndPolicy;
using bfc::Generation;

EndPolicy policy_option(const StrategySpec& spec, std::string_view key) {
  constexpr std::string_view kPolicies[] = {"[asc,bfc]", "[asc,exact]", "[desc,bfc]",
                                            "[desc,exact]"};
  const std::size_t choice = choice_option(spec, key, kPolicies, 0);
  return {.descending = choice >= 2, .exact = choice % 2 == 1};
}

bfc::Options options_of(const StrategySpec& spec, const StrategyContext& context) {
  bfc::Options options;
  const bool limited = find_option(spec, "limit").has_value();
  const Bytes total = limited ? 0 : context.device.total_bytes();
  options.limit = size_option(spec, "limit", std::max<Bytes>(context.capacity.value_or(total), 1));
  options.allow_growth = bool_option(spec, "allow_growth", true);
  options.garbage_collection = bool_option(spec, "garbage_collection", false);
  options.fragmentation_fraction = number_option(spec, "fragmentation_fraction", 0);
  options.coalesce_regions = bool_option(spec, "coalesce_regions", false);
  options.timestamped = bool_option(spec, "timestamped", false);
  options.spatial = bool_option(spec, "spatial", false);
  options.lower = policy_option(spec, "lower_policy");
  options.upper = policy_option(spec, "upper_policy");
  options.backpedal_once = bool_option(spec, "backpedal_once", false);
  options.first_region = size_option(spec, "first_region", 2 * kMiB);
  constexpr std::string_view kGenerations[] = {"classic", "modern", "2.21"};
  constexpr Generation kReports[] = {Generation::classic, Generation::modern, Generation::tf_2_21};
  options.report = kReports[choice_option(spec, "generation", kGenerations, 0)];
  const bool modern = options.report == Generation::modern;
  options.ignore_alignment = find_option(spec, "generation") && !modern;
  options.name = find_option(spec, "name").value_or("GPU_0_bfc");
  return options;
}

void check(const bfc::Options& options) {
  const auto refuse = [](const std::string& why) { throw UsageError("strategy 'bfc': " + why); };
  if (options.limit == 0) refuse("limit is 0; expected more");
  if (options.first_region == 0) refuse("first_region is 0; expected more");
  if (options.fragmentation_fraction > 0 &&
      options.fragmentation_fraction * static_cast<double>(options.limit) < 1) {
    refuse(
        fmt::format("fragmentation_fraction {} of {} is less than a byte, which makes the "
                    "original corrupt its tables; expected more, or 0 for the rule of 128 MiB",
                    options.fragmentation_fraction, options.limit));
  }
  if (options.spatial && options.allow_growth) {
    refuse("spatial needs allow_growth=false: its two ends share one region");
  }
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  const bfc::Options options = options_of(spec, context);
  check(options);
  return std::make_unique<bfc::Allocator>(
      context.device, options,
      std::vector<std::string>(context.texts.begin(), context.texts.end()));
}

/// What TensorFlow can set. A region of the whole limit has nothing to collect.
std::vector<std::string> settings_to_try() {
  std::vector<std::string> settings = {"garbage_collection=true", "allow_growth=false"};
  for (const char* fraction : {"0.1", "0.01", "0.001"}) {
    const std::string splits = fmt::format("fragmentation_fraction={}", fraction);
    for (const std::string& before : {std::string(), std::string("garbage_collection=true,"),
                                      std::string("allow_growth=false,")}) {
      settings.push_back(before + splits);
    }
  }
  return settings;
}

/// The variable of TensorFlow that limits an allocator of the host, with the value that it takes;
/// none for one of a device.
std::string host_limit(std::string_view name, Bytes limit) {
  if (name == "mklcpu") return fmt::format("TF_MKL_ALLOC_MAX_BYTES={}", limit);
  const char* const variable = name.find("host") != name.npos  ? "TF_GPU_HOST_MEM_LIMIT_IN_MB"
                               : name.find("cpu") != name.npos ? "TF_CPU_BFC_MEM_LIMIT_IN_MB"
                                                               : nullptr;
  return variable == nullptr ? "" : fmt::format("{}={}", variable, limit / kMiB);
}

/// In TensorFlow's own names, and behind them as options are; of a host's it sets the limit alone.
std::string as_set(const StrategySpec& spec) {
  const std::string limit =
      host_limit(find_option(spec, "name").value_or(""),
                 find_option(spec, "limit") ? size_option(spec, "limit", 0) : 0);
  const bool of_host = !limit.empty();
  std::vector<std::string> lines, options;
  bool all_are_set = true;
  for (const auto& [key, value] : spec.options) {
    if (key == "name") continue;
    options.push_back(key + '=' + value);
    if (of_host) {
      if (key == "limit") lines.push_back(limit);
      all_are_set &= key == "limit";
    } else if (key == "allow_growth") {
      lines.push_back("TF_FORCE_GPU_ALLOW_GROWTH=" + value);
    } else if (key == "garbage_collection") {
      lines.push_back("TF_ENABLE_GPU_GARBAGE_COLLECTION=" + value);
    } else if (key == "fragmentation_fraction") {
      lines.push_back("gpu_options.experimental.internal_fragmentation_fraction=" + value);
    }
  }
  return fmt::format("{}  # {}{}", fmt::join(lines, " "), fmt::join(options, ", "),
                     all_are_set ? "" : "; of this allocator TensorFlow sets the limit alone");
}

}  // namespace

/// BFC of TensorFlow and XLA: best fit with coalescing.
StrategyInfo bfc_strategy() {
  return {
      .name = "bfc",
      .summary = "TensorFlow's and XLA's allocator: best fit with coalescing in growing regions.",
      .options =
          {{"limit", "SIZE", "capacity", "Bytes that it may hold."},
           {"allow_growth", "true|false", "true",
            "Region by region; false: one of the full limit."},
           {"garbage_collection", "true|false", "false",
            "Wholly free regions are returned when a request would fail."},
           {"fragmentation_fraction", "NUMBER", "0",
            "Share of the limit from which a surplus is split off; 0: 128 MiB."},
           {"coalesce_regions", "true|false", "false", "Regions that touch become one."},
           {"timestamped", "true|false", "false",
            "Freed memory merges when the safe frontier has passed its free."},
           {"spatial", "true|false", "false", "One pool with two ends (XLA); needs no growth."},
           {"lower_policy", "[asc|desc,bfc|exact]", "[asc,bfc]",
            "Which of equal holes at the lower end, and how it is cut."},
           {"upper_policy", "[asc|desc,bfc|exact]", "[asc,bfc]",
            "Which of equal holes at the upper end, and how it is cut."},
           {"generation", "classic|modern|2.21", "classic",
            "Wording of the failure report (2.21: TensorFlow's). All but 'modern' ignore requests' "
            "own alignment where they are named."},
           {"first_region", "SIZE", "2MiB", "The first region with growth; 1MiB before 2021."},
           {"backpedal_once", "true|false", "false",
            "After one smaller region take no other, as before 2024."},
           {"name", "TEXT", "GPU_0_bfc", "In the failure report."}},
      .make = make,
      .keeps_regions = true,
      .joins =
          [](const StrategySpec& spec) { return bool_option(spec, "coalesce_regions", false); },
      .known_as = {{"tensorflow"}, {"tf"}, {"xla"}, {"bestfitwithcoalescing"}},
      .settings_to_try = settings_to_try,
      .as_set = as_set,
      .presets = {{"", 1}}};
}

}  // namespace memreplay
