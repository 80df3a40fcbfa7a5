#include <fmt/format.h>

#include <algorithm>

#include "questions/check/phrases.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"
#include "trace/json/json.hpp"

namespace memreplay {
namespace {

/// GitHub shows ten errors of a step.
constexpr std::size_t kPlaces = 3;
/// A line that explains less of what grew is not annotated.
constexpr Bytes kLeastPart = 10;

std::string escaped(const std::string& text, bool in_property) {
  std::string out;
  for (const char c : visible_text(text)) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (in_property && c == ':') {
      out += "%3A";
    } else if (in_property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string annotation(const CodeLine* at, const std::string& title, const std::string& message) {
  std::string properties;
  if (at != nullptr) {
    properties = fmt::format("file={},line={},", escaped(at->file, true), at->line);
  }
  return fmt::format("::error {}title={}::{}\n", properties, escaped(title, true),
                     escaped(message, false));
}

// What is over its limit, in one sentence for all of an entry.
std::string failures(const EntryCheck& entry) {
  std::string text;
  for (const CheckedValue& value : entry.values) {
    if (entry.passes(value)) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", value.metric->word,
                        bounded(value_phrase(value), !entry.facts.whole()));
    const std::string place = place_phrase(value);
    if (!place.empty()) text += ", " + place;
  }
  if (!entry.facts.whole()) text += "; " + early_end_phrase(*entry.facts.early_end);
  return text;
}

const char* unit(const CheckedValue& value) { return value.metric->in_bytes ? "B" : "times"; }

/// Calls `use` with every value of every entry.
template <typename Use>
void for_each_value(const CheckAnswer& answer, Use use) {
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) use(entry, value);
  }
}

// Distinct within a trace.
std::string case_name(const EntryCheck& entry, const CheckedValue& value) {
  std::string name(value.metric->name);
  if (entry.gpu == 0 && entry.setup.strategy == CheckSetup{}.strategy) return name;
  return fmt::format("{} (gpu {}, {})", name, entry.gpu, entry.setup.strategy);
}

std::string failure(const EntryCheck& entry, const CheckedValue& value) {
  const std::string message =
      fmt::format("{} {}", value.metric->word, bounded(value_phrase(value), !entry.facts.whole()));
  std::string details = message;
  if (!entry.facts.whole()) details += '\n' + early_end_phrase(*entry.facts.early_end);
  const std::string place = place_phrase(value);
  if (!place.empty()) details += '\n' + place;
  details += '\n' + (entry.grown.empty() ? no_growth_phrase(entry) : "grew since the baseline:");
  for (const PlaceGrowth& growth : entry.grown) details += "\n  " + growth_phrase(growth);
  return fmt::format("    <failure type=\"over the limit\" message=\"{}\">{}</failure>\n",
                     markup_text(message), markup_text(details));
}

std::string error_case(const NotChecked& file) {
  return fmt::format(
      "  <testcase classname=\"{}\" name=\"is checked\">\n"
      "    <error type=\"not checked\" message=\"{}\">{}</error>\n  </testcase>\n",
      markup_text(file.path), markup_text(file.message), markup_text(file.message));
}

}  // namespace

std::string to_github(const CheckAnswer& answer) {
  std::string out;
  for (const EntryCheck& entry : answer.entries) {
    if (entry.passed()) continue;
    const std::string title = "memory of " + entry_phrase(entry);
    std::size_t said = 0;
    Bytes whole = 0;
    for (const PlaceGrowth& growth : entry.grown) whole += growth.grown;
    for (const PlaceGrowth& growth : entry.grown) {
      const auto at = entry.code.find(growth.place);
      if (at == entry.code.end() || said == kPlaces || growth.grown < whole / kLeastPart) continue;
      ++said;
      out += annotation(&at->second, title, growth_phrase(growth) + ": " + failures(entry));
    }
    if (said == 0) out += annotation(nullptr, title, failures(entry));
  }
  for (const NotChecked& file : answer.failed) {
    out += annotation(nullptr, file.path + " is not checked", file.message);
  }
  return out;
}

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
    benchmark["extra"] =
        fmt::format("baseline {}, limit {}",
                    value.baseline ? std::to_string(*value.baseline) : "none", value.limit);
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
           {"extra_info",
            {{"baseline", value.baseline ? Json(*value.baseline) : Json(nullptr)},
             {"interval", interval}}}}}});
  });
  return dump(records);
}

std::span<const CheckFormat> check_formats() {
  static constexpr CheckFormat kFormats[] = {
      {"--junit", "The values as test cases, in JUnit's XML.", to_junit},
      {"--github", "Annotations for GitHub Actions: an error on each line that grew.", to_github,
       false, true},
      {"--bencher", "The values in Bencher's metric format.", to_bencher, true},
      {"--benchmark-action", "For github-action-benchmark: customSmallerIsBetter.",
       to_benchmark_action, true},
      {"--oss-benchmark", "PyTorch's benchmark records, v3.", to_oss_benchmark, true},
  };
  return kFormats;
}

std::string to_junit(const CheckAnswer& answer) {
  std::string cases;
  std::size_t count = 0;
  std::size_t failures = 0;
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      ++count;
      cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", markup_text(entry.trace),
                           markup_text(case_name(entry, value)));
      if (entry.passes(value)) {
        cases += "/>\n";
        continue;
      }
      ++failures;
      cases += ">\n" + failure(entry, value) + "  </testcase>\n";
    }
  }
  for (const NotChecked& file : answer.failed) cases += error_case(file);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"memreplay check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"0\">\n{}</testsuite>\n",
      count + answer.failed.size(), failures, answer.failed.size(), cases);
}

}  // namespace memreplay
