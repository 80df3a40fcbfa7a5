#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/check/phrases.hpp"
#include "report/parts/recording_advice.hpp"
#include "trace/json/json.hpp"

namespace memreplay {
namespace {

// Paths may hold any byte; XML may not.
std::string escaped(const std::string& text) {
  const std::string valid = nlohmann::json::parse(Json(text).dump()).get<std::string>();
  std::string out;
  for (const char c : valid) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? '?' : c;
    }
  }
  return out;
}

// Distinct within a trace.
std::string case_name(const EntryCheck& entry, const CheckedValue& value) {
  std::string name(value.metric->name);
  if (entry.gpu == 0 && entry.setup.strategy == CheckSetup{}.strategy) return name;
  return fmt::format("{} (gpu {}, {})", name, entry.gpu, entry.setup.strategy);
}

std::string failure(const EntryCheck& entry, const CheckedValue& value) {
  const std::string message = fmt::format(
      "{} {}", value.metric->word, bounded(value_phrase(value), entry.early_end.has_value()));
  std::string details = message;
  if (entry.early_end) details += '\n' + early_end_phrase(*entry.early_end);
  const std::string place = place_phrase(value);
  if (!place.empty()) details += '\n' + place;
  details += '\n' + (entry.grown.empty() ? no_growth_phrase(entry) : "grew since the baseline:");
  for (const PlaceGrowth& growth : entry.grown) details += "\n  " + growth_phrase(growth);
  return fmt::format("    <failure type=\"over the limit\" message=\"{}\">{}</failure>\n",
                     escaped(message), escaped(details));
}

std::string error_case(const NotChecked& file) {
  return fmt::format(
      "  <testcase classname=\"{}\" name=\"is checked\">\n"
      "    <error type=\"not checked\" message=\"{}\">{}</error>\n  </testcase>\n",
      escaped(file.path), escaped(file.message), escaped(file.message));
}

}  // namespace

std::string to_junit(const CheckAnswer& answer) {
  std::string cases;
  std::size_t count = 0;
  std::size_t failures = 0;
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      ++count;
      cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", escaped(entry.trace),
                           escaped(case_name(entry, value)));
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
