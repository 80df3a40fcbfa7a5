#include "options/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/check/plan.hpp"
#include "analysis/check/tolerance.hpp"
#include "core/error.hpp"
#include "report/check/check.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

Tolerance tolerance_argument(const std::string& option, const std::string& text) {
  if (const auto tolerance = parse_tolerance(text)) return *tolerance;
  throw UsageError(
      fmt::format("{} is '{}'; expected a tolerance such as 2%, 64MiB or 0", option, text));
}

/// "peak_reserved" stands for "peak_reserved_bytes".
const CheckedMetric& metric_named(std::string name) {
  const bool short_of_bytes = std::ranges::any_of(
      checked_metrics(),
      [&](const CheckedMetric& metric) { return metric.name == name + "_bytes"; });
  if (short_of_bytes) name += "_bytes";
  return checked_metric(name);
}

CheckQuestion::Metric metric_argument(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  CheckQuestion::Metric metric{&metric_named(text.substr(0, equals)), std::nullopt};
  if (equals == text.size()) return metric;
  metric.tolerance = tolerance_argument("--metric", text.substr(equals + 1));
  return metric;
}

CheckQuestion::Budget budget_argument(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const CheckedMetric& metric = metric_named(text.substr(0, equals));
  if (equals == text.size()) {
    throw UsageError(
        fmt::format("--limit is '{0}'; expected {0}={1}", text, metric.in_bytes ? "24GiB" : "0"));
  }
  const std::string most = text.substr(equals + 1);
  return {&metric,
          metric.in_bytes ? size_argument("--limit", most) : whole_argument("--limit", most)};
}

void add_options(CommandLine& line, CheckCommand& asked) {
  add_input_options(line, asked.input);
  CheckQuestion& question = asked.question;
  line.renewed("--baseline", "F", "What it came to before; made and renewed by --update.",
               asked.baseline);
  line.flag("--update", "Write what it comes to now into F. Default: off.", asked.update);
  line.repeated(
      "--metric", "METRIC[=T]",
      "With --update what to keep, else another tolerance for it. Default: as in F; "
      "peak_reserved_bytes and peak_allocated_bytes where it is new.",
      [&](const std::string& text) { question.metrics.push_back(metric_argument(text)); });
  line.value("--tolerance", "T",
             "How much more is within: 2%, 64MiB, 0. Default: as in F; 2% where it is new.",
             [&](const std::string& text) {
               question.tolerance = tolerance_argument("--tolerance", text);
             });
  line.repeated(
      "--limit", "METRIC=SIZE",
      "A budget beside the tolerances: peak_reserved=24GiB, ooms=0. Default: none.",
      [&](const std::string& text) { question.budgets.push_back(budget_argument(text)); });
  line.repeated("-s,--strategy", "S",
                "NAME or NAME:key=value,... Default: as in F; torch where it is new.",
                [&](const std::string& text) {
                  parse_strategy(text);
                  question.strategies.push_back(text);
                });
  line.value("--torch-version", "X.Y.Z",
             "With --update: rules of that PyTorch. Default: as in F; new ones: the recording's.",
             [&](const std::string& text) { question.release = text; });
  line.value(
      "--capacity", "SIZE|none",
      "With --update: memory of the device. Default: as in F; where it is new that of a recorded "
      "failure, else no limit.",
      [&](const std::string& text) {
        question.endless = text == "none";
        question.capacity.reset();
        if (!question.endless) question.capacity = size_argument("--capacity", text);
      });
  line.value(
      "--start", "auto|cold",
      "With --update: cold leaves out what was there before the recording. Default: as in F; "
      "auto where it is new.",
      [&](const std::string& text) {
        question.from_before = choice_argument("--start", text, {"auto", "cold"}) == 0
                                   ? FromBefore::counted
                                   : FromBefore::left_out;
      });
  const CommandLine::Group group(line, "Output");
  asked.files.resize(check_formats().size());
  for (std::size_t i = 0; i < asked.files.size(); ++i) {
    const CheckFormat& format = check_formats()[i];
    const CommandLine::Group shown(line, "Output",
                                   format.rare ? Shown::in_help_all : Shown::always);
    line.output(std::string(format.option), "F", std::string(format.sentence), asked.files[i]);
  }
  add_report_options(line, asked.reports);
}

template <typename T>
void refuse_twice(std::vector<T> given, const char* what) {
  std::ranges::sort(given);
  const auto twice = std::ranges::adjacent_find(given);
  if (twice != given.end()) throw UsageError(fmt::format("{} {} is named twice", what, *twice));
}

void require_sense(CheckCommand& asked, const Command& command) {
  require_paths(asked.input, command);
  const CheckQuestion& question = asked.question;
  DeviceShape{.capacity = question.capacity}.simulated();
  if (asked.baseline.empty() || asked.baseline.is_stdout()) {
    throw UsageError("against which file? (--baseline F; with --update it is made)");
  }
  refuse_twice(asked.input.paths, "recording");
  refuse_twice(question.strategies, "strategy");
  std::vector<std::string_view> names;
  for (const auto& [metric, tolerance] : question.metrics) {
    names.push_back(metric->name);
    refuse_size_of_times(*metric, tolerance ? tolerance : question.tolerance);
    if (asked.update || tolerance) continue;
    throw UsageError(fmt::format(
        "--metric {0} has no tolerance; expected {0}=T, or --update to keep it", metric->name));
  }
  refuse_twice(names, "metric");
  for (std::size_t i = 0; asked.update && i < asked.files.size(); ++i) {
    if (asked.files[i].empty()) continue;
    throw UsageError(fmt::format("{} is of a check, not of --update", check_formats()[i].option));
  }
  if (asked.update && !question.budgets.empty()) {
    throw UsageError("--limit is of a check, not of --update");
  }
  if (!asked.update &&
      (question.release || question.capacity || question.endless || question.from_before)) {
    throw UsageError(
        "--torch-version, --capacity and --start go with --update; a check keeps to its file");
  }
  const auto on_stdout = std::ranges::count_if(asked.files, &OutputPath::is_stdout);
  if (on_stdout + (asked.reports.takes_stdout() ? 1 : 0) > 1) {
    throw UsageError("only one of the reports can go to standard output");
  }
}

}  // namespace

bool CheckCommand::takes_stdout() const {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].is_stdout() && !check_formats()[i].beside_text) return true;
  }
  return false;
}

CheckCommand check_arguments(const Command& command, const std::vector<std::string>& arguments) {
  CheckCommand asked;
  CommandLine line(command);
  add_options(line, asked);
  line.parse(arguments);
  asked.question.baseline = asked.baseline.text();
  asked.question.program = MEMREPLAY_VERSION;
  require_sense(asked, command);
  return asked;
}

}  // namespace memreplay
