#include <fmt/format.h>

#include "report/check/phrases.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

const char* unit(const CheckedValue& value) { return value.metric->in_bytes ? "B" : "times"; }

/// Calls `use` with every value of every entry.
template <typename Use>
void for_each_value(const CheckAnswer& answer, Use use) {
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) use(entry, value);
  }
}

}  // namespace

std::string to_bencher(const CheckAnswer& answer) {
  Json benchmarks = Json::object();
  for_each_value(answer, [&](const EntryCheck& entry, const CheckedValue& value) {
    Json metric{{"value", value.value}};
    if (value.interval) {
      metric["lower_value"] = value.interval->low;
      metric["upper_value"] = value.interval->high;
    }
    benchmarks[entry_phrase(entry)][value.metric->name] = std::move(metric);
  });
  return dump(benchmarks);
}

std::string to_benchmark_action(const CheckAnswer& answer) {
  Json benchmarks = Json::array();
  for_each_value(answer, [&](const EntryCheck& entry, const CheckedValue& value) {
    Json benchmark{{"name", fmt::format("{}: {}", entry_phrase(entry), value.metric->name)},
                   {"unit", unit(value)},
                   {"value", value.value}};
    if (value.interval) {
      benchmark["range"] = fmt::format("{} to {}", value.interval->low, value.interval->high);
    }
    benchmark["extra"] = fmt::format("baseline {}, limit {}", value.baseline, value.limit);
    benchmarks.push_back(std::move(benchmark));
  });
  return dump(benchmarks);
}

std::string to_oss_benchmark(const CheckAnswer& answer) {
  Json records = Json::array();
  for_each_value(answer, [&](const EntryCheck& entry, const CheckedValue& value) {
    const Json setup{{"strategy", entry.setup.strategy},
                     {"torch_version", JsonFields::of(unless_empty(entry.setup.release))},
                     {"capacity_bytes", JsonFields::of(entry.setup.capacity)},
                     {"gpu", entry.gpu}};
    Json interval = nullptr;
    if (value.interval) interval = Json::array({value.interval->low, value.interval->high});
    records.push_back(
        {{"benchmark", {{"name", "memreplay check"}, {"extra_info", setup}}},
         {"model", {{"name", entry.trace}, {"type", "memory recording"}, {"backend", "memreplay"}}},
         {"metric",
          {{"name", value.metric->name},
           {"benchmark_values", Json::array({value.value})},
           {"target_value", value.limit},
           {"extra_info", {{"baseline", value.baseline}, {"interval", interval}}}}}});
  });
  return dump(records);
}

std::span<const CheckFormat> check_formats() {
  static constexpr CheckFormat kFormats[] = {
      {"--junit", "The values as test cases, in JUnit's XML.", to_junit},
      {"--github", "Errors on the lines that grew, as GitHub Actions reads them.", to_github, false,
       true},
      {"--bencher", "The values in Bencher's metric format.", to_bencher, true},
      {"--benchmark-action", "For github-action-benchmark: customSmallerIsBetter.",
       to_benchmark_action, true},
      {"--oss-benchmark", "PyTorch's benchmark records, v3.", to_oss_benchmark, true},
  };
  return kFormats;
}

}  // namespace memreplay
