#include "report/check/check.hpp"

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

#include "analysis/check/baseline_file.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "options/check.hpp"
#include "output/each_recording.hpp"
#include "output/printing.hpp"
#include "output/ranks_first.hpp"
#include "output/revised_file.hpp"
#include "output/terminal.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// The files for other programs, open from the start.
class CheckFiles {
 public:
  explicit CheckFiles(const CheckCommand& asked) {
    for (const OutputPath& path : asked.files) {
      files_.push_back(path.empty() ? nullptr : std::make_unique<OutputFile>(path));
    }
  }

  void write(const CheckAnswer& answered) {
    for (std::size_t i = 0; !answered.interrupted && i < files_.size(); ++i) {
      if (!files_[i]) continue;
      files_[i]->stream() << check_formats()[i].write(answered);
      files_[i]->commit();
    }
  }

 private:
  std::vector<std::unique_ptr<OutputFile>> files_;  ///< by check_formats()
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

/// Begins with what `ranks` says, where all entries are replayed alike.
void begin_with_ranks(const CheckCommand& asked, const Printer& printer,
                      const std::vector<const EntryCheck*>& entries) {
  if (asked.takes_stdout() || entries.empty()) return;
  const CheckSetup& first = entries.front()->setup;
  const auto all = [&](const auto& is) { return std::ranges::all_of(entries, is); };
  if (!all([&](const EntryCheck* entry) { return entry->setup.strategy == first.strategy; }))
    return;
  Setup setup{.release = first.release};
  // Else each has the device of its own recording.
  if (all([&](const EntryCheck* entry) { return entry->setup.capacity == first.capacity; })) {
    setup.device.capacity = first.capacity;
    setup.device.endless =
        !first.capacity && all([](const EntryCheck* entry) { return entry->ooms == 0; });
  }
  Progress progress(asked.reports.quiet);
  print_ranks_first(printer, asked.input, {parse_strategy(first.strategy)}, setup, progress,
                    asked.reports.colour);
}

CheckAnswer checked(const CheckCommand& asked) {
  const std::string& path = asked.question.baseline;
  const auto baseline = read_baseline(path);
  if (!baseline) throw InputError(path, "", "is not there; --update makes it from these traces");
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
    begin_with_ranks(asked, printer, entries);
    printer.print(answered, !asked.takes_stdout());
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
  begin_with_ranks(asked, printer, entries);
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
