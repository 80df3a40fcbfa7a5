#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"
#include "questions/check/answer.hpp"
#include "questions/check/baseline_file.hpp"
#include "questions/check/check_report.hpp"
#include "questions/check/plan.hpp"
#include "questions/check/tolerance.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

/// What a command line asks of `check`.
struct CheckCommand {
  InputOptions input;
  ReportOptions reports;
  CheckQuestion question;
  bool update = false;
  OutputPath baseline;            ///< read, and written by --update
  std::vector<OutputPath> files;  ///< by check_formats()

  /// One of the files is standard output, and the text would be in its way.
  bool takes_stdout() const;
};

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
  line.renewed("--baseline", "F", "The baseline file; --update writes it.", asked.baseline);
  line.flag("--update", "Write the current values into F. Default: off.", asked.update);
  line.repeated(
      "--metric", "METRIC[=T]",
      "With --update a value to keep, else another tolerance for one. Default: as in F; "
      "peak_reserved_bytes and peak_allocated_bytes for a new entry.",
      [&](const std::string& text) { question.metrics.push_back(metric_argument(text)); });
  line.value("--tolerance", "T",
             "How much a value may grow: 2%, 64MiB, 0. Default: as in F; 2% for a new entry.",
             [&](const std::string& text) {
               question.tolerance = tolerance_argument("--tolerance", text);
             });
  line.repeated(
      "--limit", "METRIC=SIZE",
      "A budget besides the tolerances: peak_reserved=24GiB, ooms=0. Default: none.",
      [&](const std::string& text) { question.budgets.push_back(budget_argument(text)); });
  line.repeated("-s,--strategy", "S",
                "NAME or NAME:key=value,... Default: as in F; torch for a new entry.",
                [&](const std::string& text) {
                  parse_strategy(text);
                  question.strategies.push_back(text);
                });
  line.value("--torch-version", "X.Y.Z",
             "With --update: rules of this PyTorch release. Default: as in F; the recording's for "
             "a new entry.",
             [&](const std::string& text) { question.release = text; });
  line.value("--capacity", "SIZE|none",
             "With --update: memory of the device. Default: as in F; for a new entry that of a "
             "recorded failure, else no limit.",
             [&](const std::string& text) {
               question.endless = text == "none";
               question.capacity.reset();
               if (!question.endless) question.capacity = size_argument("--capacity", text);
             });
  line.value("--start", "auto|cold",
             "With --update: cold leaves out blocks from before the recording. Default: as in F; "
             "auto for a new entry.",
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
  Setup{.capacity = question.capacity}.simulated();
  if (asked.baseline.empty() || asked.baseline.is_stdout()) {
    throw UsageError("against which file? (--baseline F; --update writes it)");
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
    throw UsageError(fmt::format("{} is for a check, not for --update", check_formats()[i].option));
  }
  if (asked.update && !question.budgets.empty()) {
    throw UsageError("--limit is for a check, not for --update");
  }
  if (!asked.update &&
      (question.release || question.capacity || question.endless || question.from_before)) {
    throw UsageError(
        "--torch-version, --capacity and --start go with --update; a check takes them from its "
        "file");
  }
  const auto on_stdout = std::ranges::count_if(asked.files, &OutputPath::is_stdout);
  if (on_stdout + (asked.reports.takes_stdout() ? 1 : 0) > 1) {
    throw UsageError("only one of the reports can go to standard output");
  }
}

bool CheckCommand::takes_stdout() const {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].is_stdout() && !check_formats()[i].beside_text) return true;
  }
  return false;
}

/// Throws UsageError, also where the options do not go together.
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

namespace fs = std::filesystem;

/// The files for other programs, open from the start.
class CheckFiles {
 public:
  explicit CheckFiles(const CheckCommand& asked) {
    for (const OutputPath& path : asked.files) {
      on_stdout_.push_back(path.is_stdout());
      files_.push_back(path.empty() ? nullptr : std::make_unique<OutputFile>(path));
    }
  }

  void write(const CheckAnswer& answered) {
    for (std::size_t i = 0; !answered.interrupted && i < files_.size(); ++i) {
      if (!files_[i]) continue;
      const std::string written = check_formats()[i].write(answered);
      const bool shown = on_stdout_[i] && stdout_is_terminal();
      files_[i]->write([&](std::ostream& out) {
        out << (shown ? terminal_text(written, terminal_style()) : written);
      });
    }
  }

 private:
  // By check_formats().
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<bool> on_stdout_;
};

/// The files of the repository, for paths that were recorded elsewhere.
class RepositoryFiles {
 public:
  /// From the root of the repository: the longest end of the recorded path that is there, else the
  /// only file of that name, or the one whose folders agree most. The path itself where none is.
  std::string found(const std::string& recorded) {
    std::error_code ignored;
    for (std::size_t at = 0; at < recorded.size(); ++at) {
      if (at > 0 && recorded[at - 1] != '/') continue;
      const std::string end = recorded.substr(at);
      if (!end.starts_with('/') && fs::is_regular_file(root_ / end, ignored)) return end;
    }
    return nearest(recorded).value_or(recorded);
  }

 private:
  /// GitHub's, where this folder is in it; else this folder.
  static fs::path root() {
    const fs::path here = fs::current_path();
    const char* workspace = std::getenv("GITHUB_WORKSPACE");
    if (workspace == nullptr) return here;
    const fs::path inside = here.lexically_relative(workspace);
    return inside.empty() || *inside.begin() == ".." ? here : fs::path(workspace);
  }

  std::optional<std::string> nearest(const fs::path& recorded) {
    if (!listed_) list();
    const auto [first, last] = by_name_.equal_range(recorded.filename().string());
    std::optional<std::string> best;
    std::ptrdiff_t most = 0;
    for (auto file = first; file != last; ++file) {
      const std::ptrdiff_t same = same_folders(recorded, file->second);
      if (same == most) best.reset();  // two of them would do
      if (same > most) best = file->second;
      most = std::max(most, same);
    }
    return best;
  }

  /// How many parts at their ends agree.
  static std::ptrdiff_t same_folders(const fs::path& a, const fs::path& b) {
    const std::vector<fs::path> one(a.begin(), a.end());
    const std::vector<fs::path> other(b.begin(), b.end());
    return std::ranges::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend()).in1 -
           one.rbegin();
  }

  void list() {
    listed_ = true;
    std::error_code ignored;
    constexpr auto kOptions = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(root_, kOptions, ignored);
         at != fs::recursive_directory_iterator(); at.increment(ignored)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with('.')) at.disable_recursion_pending();
      if (!at->is_regular_file(ignored)) continue;
      by_name_.emplace(name, at->path().lexically_relative(root_).generic_string());
    }
  }

  fs::path root_ = root();
  bool listed_ = false;
  std::multimap<std::string, std::string> by_name_;
};

/// What `ranks` says, where all entries are replayed alike.
void print_ranks_of(const CheckCommand& asked, const Printer& printer,
                    const std::vector<const EntryCheck*>& entries, RanksStand stand) {
  if (asked.takes_stdout() || entries.empty()) return;
  const CheckSetup& first = entries.front()->setup;
  const auto all = [&](const auto& is) { return std::ranges::all_of(entries, is); };
  if (!all([&](const EntryCheck* entry) { return entry->setup.strategy == first.strategy; }))
    return;
  Setup setup{.release = first.release};
  // Else each has the device of its own recording.
  if (all([&](const EntryCheck* entry) { return entry->setup.capacity == first.capacity; })) {
    setup.capacity = first.capacity;
    setup.endless =
        !first.capacity && all([](const EntryCheck* entry) { return entry->ooms == 0; });
  }
  Progress progress(asked.reports.quiet);
  print_ranks(printer, asked.input, {parse_strategy(first.strategy)}, setup, progress,
              asked.reports.colour, stand);
}

CheckAnswer checked(const CheckCommand& asked) {
  const std::string& path = asked.question.baseline;
  const auto baseline = read_baseline(path);
  if (!baseline) throw InputError(path, "", "does not exist; --update writes it from these traces");
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress, OnUnreadable::go_on);
  CheckAnswer answered = answer(inputs, *baseline, asked.question, progress.control());
  progress.clear();
  RepositoryFiles files;
  for (EntryCheck& entry : answered.entries) {
    for (auto& [place, code] : entry.code) code.file = files.found(code.file);
  }
  return answered;
}

/// Whatever could not be checked is in the files too, so that none of a run before is taken for
/// this one's.
int compare_with_baseline(const CheckCommand& asked, Printer& printer) {
  CheckFiles files(asked);
  CheckAnswer answered;
  try {
    answered = checked(asked);
  } catch (const InputError& error) {
    files.write({.failed = {{asked.question.baseline, error.what()}}});
    throw;
  }
  files.write(answered);
  for (const NotChecked& file : answered.failed) write_stderr(file.message);
  if (!answered.entries.empty() || answered.failed.empty()) {
    std::vector<const EntryCheck*> entries;
    for (const EntryCheck& entry : answered.entries) entries.push_back(&entry);
    // What is over its limit is the first line.
    const bool passed = answered.passed();
    if (passed) print_ranks_of(asked, printer, entries, RanksStand::first);
    printer.print(answered, !asked.takes_stdout());
    if (!passed) print_ranks_of(asked, printer, entries, RanksStand::last);
  }
  if (answered.interrupted) return kInterrupted;
  if (!answered.failed.empty()) return kUnusable;
  return answered.passed() ? kDone : kAnswerIsNo;
}

int renew_baseline(const CheckCommand& asked, Printer& printer) {
  const std::string& path = asked.question.baseline;
  RevisedFile file(asked.baseline);
  const auto baseline = [&] {
    return file.text() ? parse_baseline(path, *file.text()) : Baseline{};
  };
  Baseline before = baseline();
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  UpdateAnswer answered =
      answer_update(inputs, std::move(before), asked.question, progress.control());
  while (!answered.interrupted && !file.replace(baseline_text(answered.renewed))) {
    answered = answer_update(inputs, baseline(), asked.question, progress.control(), answered);
  }
  progress.clear();
  if (answered.interrupted) return kInterrupted;
  std::vector<const EntryCheck*> entries;
  for (const EntryUpdate& entry : answered.entries) entries.push_back(&entry.check);
  print_ranks_of(asked, printer, entries, RanksStand::first);
  printer.print(answered);
  return kDone;
}

}  // namespace

int run_check(const Command& command, const std::vector<std::string>& arguments) {
  const CheckCommand asked = check_arguments(command, arguments);
  Printer printer(asked.reports);
  return asked.update ? renew_baseline(asked, printer) : compare_with_baseline(asked, printer);
}

}  // namespace memreplay
