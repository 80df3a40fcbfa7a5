#include "analysis/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/late_start/late_start.hpp"
#include "check_plan.hpp"
#include "core/error.hpp"
#include "options/command_line.hpp"
#include "output/printing.hpp"
#include "report/baseline_file.hpp"
#include "report/check/check.hpp"
#include "report/check/phrases.hpp"

namespace memreplay {
namespace {

struct Options {
  InputOptions input;
  ReportOptions reports;
  CheckOptions check;
  std::string junit;
};

Tolerance tolerance_argument(const std::string& option, const std::string& text) {
  if (const auto tolerance = parse_tolerance(text)) return *tolerance;
  throw UsageError(
      fmt::format("{} is '{}'; expected a tolerance such as 2%, 64MiB or 0", option, text));
}

CheckOptions::Metric metric_argument(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  CheckOptions::Metric metric{&checked_metric(text.substr(0, equals)), std::nullopt};
  if (equals == text.size()) return metric;
  metric.tolerance = tolerance_argument("--metric", text.substr(equals + 1));
  return metric;
}

void add_options(CommandLine& line, Options& o) {
  add_input_options(line, o.input);
  CheckOptions& check = o.check;
  line.value("--baseline", "F", "What it came to before; made and renewed by --update.",
             [&](const std::string& text) { check.baseline = text; });
  line.flag("--update", "Write what it comes to now into F. Default: off.", check.update);
  line.repeated("--metric", "NAME[=T]",
                "With --update what to keep, else another tolerance for it. Default: as in F; "
                "peak_reserved_bytes and peak_allocated_bytes where it is new.",
                [&](const std::string& text) { check.metrics.push_back(metric_argument(text)); });
  line.value(
      "--tolerance", "T",
      "How much more is within: 2%, 64MiB, 0. Default: as in F; 2% where it is new.",
      [&](const std::string& text) { check.tolerance = tolerance_argument("--tolerance", text); });
  line.repeated("-s,--strategy", "S",
                "NAME or NAME:key=value,... Default: as in F; torch where it is new.",
                [&](const std::string& text) {
                  parse_strategy(text);
                  check.strategies.push_back(text);
                });
  line.value("--torch-version", "X.Y.Z",
             "With --update: rules of that PyTorch. Default: as in F; the newest where it is new.",
             [&](const std::string& text) { check.torch_version = text; });
  line.value("--capacity", "SIZE",
             "With --update: memory of the device. Default: as in F; no limit where it is new.",
             [&](const std::string& text) { check.capacity = size_argument("--capacity", text); });
  line.value("--junit", "F", "The values as test cases, in JUnit's XML.",
             [&](const std::string& text) { o.junit = text; });
  add_report_options(line, o.reports, true);
}

template <typename T>
void refuse_twice(std::vector<T> given, const char* what) {
  std::ranges::sort(given);
  const auto twice = std::ranges::adjacent_find(given);
  if (twice != given.end()) throw UsageError(fmt::format("{} {} is named twice", what, *twice));
}

void require_sense(const Options& o, const Command& command) {
  require_paths(o.input, command);
  const CheckOptions& check = o.check;
  if (check.baseline.empty() || check.baseline == "-") {
    throw UsageError("against which file? (--baseline F; with --update it is made)");
  }
  refuse_twice(o.input.paths, "recording");
  refuse_twice(check.strategies, "strategy");
  std::vector<std::string_view> names;
  for (const auto& [metric, tolerance] : check.metrics) {
    names.push_back(metric->name);
    refuse_size_of_times(*metric, tolerance ? tolerance : check.tolerance);
    if (check.update || tolerance) continue;
    throw UsageError(fmt::format(
        "--metric {0} has no tolerance; expected {0}=T, or --update to keep it", metric->name));
  }
  refuse_twice(names, "metric");
  if (check.update && !o.junit.empty()) throw UsageError("--junit is of a check, not of --update");
  if (!check.update && (check.torch_version || check.capacity)) {
    throw UsageError("--torch-version and --capacity go with --update; a check keeps to its file");
  }
  const auto paths = {&o.reports.json, &o.reports.csv, &o.reports.markdown};
  if (o.junit == "-" && std::ranges::any_of(paths, [](auto* path) { return *path == "-"; })) {
    throw UsageError("only one of --json, --csv, --markdown and --junit can go to standard output");
  }
}

/// Hands every finished check to `use`, with the entry that it is of. False: interrupted.
template <typename Use>
bool check_all(const std::vector<CheckPlan>& plans, const Options& o, Use use) {
  watch_for_interrupt();
  Progress progress(o.reports.quiet);
  for (const CheckPlan& plan : plans) {
    if (interrupted()) return false;
    const Subject subject = plan.chosen.subject(progress);
    const LateStart late(subject, {.cancelled = &interrupted()});
    for (const BaselineEntry& entry : plan.entries) {
      progress.show(entry.trace + ' ' + entry.setup.strategy, 0);
      EntryCheck check = check_entry(subject, entry, &interrupted());
      if (!o.check.update) check.with_start = with_start(subject, late, entry, &interrupted());
      if (!check.finished || interrupted()) return false;
      use(entry, check);
    }
  }
  return true;
}

std::vector<std::string> others_in(const Baseline& baseline, const std::vector<CheckPlan>& plans) {
  Baseline checked;
  for (const CheckPlan& plan : plans) {
    for (const BaselineEntry& entry : plan.entries) checked.add(entry);
  }
  std::vector<std::string> others;
  for (const BaselineEntry& entry : baseline.entries) {
    if (checked.find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr) continue;
    others.push_back(entry_phrase(entry.trace, entry.gpu, entry.setup));
  }
  return others;
}

int compare_with_baseline(const Options& o, Printer& printer) {
  const auto junit = o.junit.empty() ? nullptr : std::make_unique<OutputFile>(o.junit);
  const auto baseline = read_baseline(o.check.baseline);
  if (!baseline) {
    throw InputError(o.check.baseline, "", "is not there; --update makes it from these traces");
  }
  const Inputs inputs(o.input);
  const auto plans = plan_check(inputs, *baseline, o.check);
  CheckReport report{o.check.baseline, {}, others_in(*baseline, plans)};
  report.interrupted = !check_all(plans, o, [&](const BaselineEntry&, const EntryCheck& check) {
    report.entries.push_back(check);
  });
  if (junit && !report.interrupted) {
    junit->stream() << check_junit(report);
    junit->commit();
  }
  printer.print(
      {[&] { return check_text(report, terminal_style()); }, [&] { return check_json(report); },
       [&] { return check_table(report); }, [&] { return check_markdown(report); }},
      o.junit != "-");
  if (report.interrupted) return kInterrupted;
  return report.passed() ? kDone : kAnswerIsNo;
}

EntryUpdate update_entry(Baseline& baseline, const BaselineEntry& entry, const EntryCheck& check) {
  BaselineEntry fresh = updated(entry, check);
  BaselineEntry* old = baseline.find(entry.trace, entry.gpu, entry.setup.strategy);
  EntryUpdate update{check};
  for (const CheckedMetric& metric : checked_metrics()) {
    const auto value_in = [&](const BaselineEntry* in) -> std::optional<std::uint64_t> {
      if (in == nullptr || !in->metrics.contains(metric.name)) return std::nullopt;
      return in->metrics.find(metric.name)->second.value;
    };
    const auto before = value_in(old);
    const auto after = value_in(&fresh);
    if (before != after) update.changes.push_back({&metric, before, after});
  }
  update.kind = old == nullptr  ? EntryUpdate::Kind::fresh
                : *old == fresh ? EntryUpdate::Kind::same
                                : EntryUpdate::Kind::changed;
  if (old != nullptr) {
    *old = std::move(fresh);
  } else {
    baseline.add(std::move(fresh));
  }
  return update;
}

int renew_baseline(const Options& o, Printer& printer) {
  Baseline baseline = read_baseline(o.check.baseline).value_or(Baseline{});
  OutputFile file(o.check.baseline);
  const Inputs inputs(o.input);
  const auto plans = plan_update(inputs, baseline, o.check);
  UpdateReport report{o.check.baseline, {}};
  if (!check_all(plans, o, [&](const BaselineEntry& entry, const EntryCheck& check) {
        report.entries.push_back(update_entry(baseline, entry, check));
      })) {
    return kInterrupted;
  }
  file.stream() << baseline_text(baseline);
  file.commit();
  printer.print({[&] { return update_text(report); }, [&] { return update_json(report); },
                 [&] { return update_table(report); }});
  return kDone;
}

}  // namespace

int run_check(const Command& command, const std::vector<std::string>& arguments) {
  Options options;
  CommandLine line(command);
  add_options(line, options);
  line.parse(arguments);
  require_sense(options, command);

  Printer printer(options.reports);
  return options.check.update ? renew_baseline(options, printer)
                              : compare_with_baseline(options, printer);
}

}  // namespace memreplay
