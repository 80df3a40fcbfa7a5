#include "report/check/check.hpp"

#include <memory>

#include "analysis/check/baseline_file.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "options/check.hpp"
#include "output/each_recording.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"

namespace memreplay {
namespace {

void write_junit(OutputFile* file, const CheckAnswer& answered) {
  if (file == nullptr || answered.interrupted) return;
  file->stream() << to_junit(answered);
  file->commit();
}

CheckAnswer checked(const CheckCommand& asked) {
  const std::string& path = asked.question.baseline;
  const auto baseline = read_baseline(path);
  if (!baseline) throw InputError(path, "", "is not there; --update makes it from these traces");
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress, OnUnreadable::go_on);
  CheckAnswer answered = answer(inputs, *baseline, asked.question, progress.control());
  progress.clear();
  return answered;
}

/// Whatever could not be checked is an error in the JUnit file, so that none of a run before is
/// taken for this one's.
int compare_with_baseline(const CheckCommand& asked, Printer& printer) {
  const auto junit = asked.junit.empty() ? nullptr : std::make_unique<OutputFile>(asked.junit);
  CheckAnswer answered;
  try {
    answered = checked(asked);
  } catch (const InputError& error) {
    write_junit(junit.get(), {.failed = {{asked.question.baseline, error.what()}}});
    throw;
  }
  write_junit(junit.get(), answered);
  for (const NotChecked& file : answered.failed) write_stderr(file.message);
  if (!answered.entries.empty() || answered.failed.empty()) {
    printer.print(answered, !asked.junit.is_stdout());
  }
  if (answered.interrupted) return kInterrupted;
  if (!answered.failed.empty()) return kUnusable;
  return answered.passed() ? kDone : kAnswerIsNo;
}

int renew_baseline(const CheckCommand& asked, Printer& printer) {
  Baseline baseline = read_baseline(asked.question.baseline).value_or(Baseline{});
  OutputFile file(asked.baseline);
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  const UpdateAnswer answered =
      answer_update(inputs, std::move(baseline), asked.question, progress.control());
  progress.clear();
  if (answered.interrupted) return kInterrupted;
  file.stream() << baseline_text(answered.renewed);
  file.commit();
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
