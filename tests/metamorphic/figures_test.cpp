#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "extensions/diff/answer.hpp"
#include "extensions/diff/diff_report.hpp"
#include "extensions/stress/answer.hpp"
#include "extensions/stress/stress_report.hpp"
#include "metamorphic/tried.hpp"
#include "questions/check/answer.hpp"
#include "questions/check/check_report.hpp"
#include "questions/fit/fit.hpp"
#include "questions/fit/fit_report.hpp"
#include "questions/replay/replay_report.hpp"
#include "questions/tune/answer.hpp"
#include "questions/tune/tune_report.hpp"

// An answer has the same figures in every form.

namespace memreplay {
namespace {

class Figures : public Rule {};
MEMREPLAY_TRY_RULES(Figures);

/// Every value of a JSON by the key under which it stands, wherever that is.
using Values = std::map<std::string, std::vector<std::string>>;
void collect(const nlohmann::json& from, const std::string& key, Values& values) {
  if (from.is_structured()) {
    for (const auto& [name, value] : from.items()) {
      collect(value, from.is_array() ? key : name, values);
    }
  } else {
    values[key].push_back(from.is_string() ? from.get<std::string>() : from.dump());
  }
}

/// Whether a JSON has the figure under the name of its column, or of a part of its answer:
/// "peak_requested_bytes" for "requested_bytes". A table rounds to six digits.
bool has(const Values& values, const std::string& title, const std::string& cell) {
  const double figure = std::strtod(cell.c_str(), nullptr);
  return std::ranges::any_of(values, [&](const auto& entry) {
    return entry.first.ends_with(title) &&
           std::ranges::any_of(entry.second, [&](const auto& value) {
             const double other = std::strtod(value.c_str(), nullptr);
             return value == cell || (value.find('.') != value.npos &&
                                      std::abs(other - figure) <= 1e-5 * std::abs(figure));
           });
  });
}
bool is_figure(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.-") == cell.npos;
}

/// Whether some size in a text for people is this one, as far as it says.
bool tells(const std::string& text, double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const std::string number = text.substr(at, end - at);
    const std::size_t point = number.find('.');
    double step = std::pow(10.0, point == number.npos ? 0 : -double(number.size() - point - 1));
    double value = std::strtod(number.c_str(), nullptr);
    for (const std::string_view unit : kUnits) {
      if (text.compare(end, unit.size() + 1, " " + std::string(unit)) == 0 &&
          std::abs(value - bytes) <= step / 2) {
        return true;
      }
      value *= 1024;
      step *= 1024;
    }
    at = end;
  }
  return false;
}

/// `shown`: the column whose sizes the text has too.
template <typename Answer>
void expect_one_answer(const Answer& answer, const std::string& shown) {
  Values values;
  collect(nlohmann::json::parse(to_json(answer)), "", values);
  SCOPED_TRACE(values.at("command").front());
  const Table table = to_table(answer);
  const std::string text = to_text(answer, TextStyle{});
  std::size_t figures = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& title = table.columns[i].title;
    const bool named = std::ranges::any_of(
        values, [&](const auto& entry) { return entry.first.ends_with(title); });
    for (const auto& row : table.rows) {
      // A sum of four counts of the JSON.
      if (!named || !is_figure(row[i]) || title == "device_calls") continue;
      ++figures;
      EXPECT_TRUE(has(values, title, row[i])) << title << ' ' << row[i] << " is in the CSV alone";
      if (title != shown) continue;
      EXPECT_TRUE(tells(text, std::stod(row[i]))) << title << ' ' << row[i] << " in:\n" << text;
    }
  }
  EXPECT_GE(figures, table.rows.size());
}

TEST_P(Figures, AreTheSameInJsonTableAndText) {
  const Inputs inputs = inputs_of(recording_);
  const std::vector<StrategySpec> strategies = strategies_for(recording_);
  const StrategySpec torch = parse_strategy("torch"), direct = parse_strategy("direct");
  expect_one_answer(replayed(inputs, strategies), "peak_reserved_bytes");
  expect_one_answer(answer(inputs, FitQuestion{.strategies = strategies}, {}),
                    "smallest_capacity_bytes");
  expect_one_answer(answer(inputs, TuneQuestion{.runs = 20}, {}), "");
  const CheckQuestion check{.baseline = "b.json", .strategies = {"torch", "direct"}};
  const Baseline baseline = answer_update(inputs, {}, check, {}).renewed;
  expect_one_answer(answer(inputs, baseline, check, {}), "");
  const Inputs two = inputs_of({&recording_, &recording_});
  expect_one_answer(std::get<RecordingsAnswer>(answer(two, DiffQuestion{}, {})), "");
  expect_one_answer(
      std::get<StrategiesAnswer>(answer(inputs, DiffQuestion{.strategies = {torch, direct}}, {})),
      "");
  expect_one_answer(answer(inputs, StressQuestion{.strategies = {torch, direct}, .orders = 5}, {}),
                    "");
}

}  // namespace
}  // namespace memreplay
