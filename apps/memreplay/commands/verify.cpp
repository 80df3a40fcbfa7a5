#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"
#include "questions/verify/answer.hpp"
#include "questions/verify/verify_report.hpp"

namespace memreplay {

int run_verify(const Command& command, const std::vector<std::string>& arguments) {
  VerifyQuestion question;
  StatedDevice device;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, question.input);
  line.value("--torch-version", "X.Y.Z",
             "Rules of this PyTorch release. Default: those that match best.",
             [&](const std::string& text) { question.release = text; });
  line.value("--capacity", "SIZE", "Memory of the device. Default: found by trying.",
             [&](const std::string& text) {
               device.capacity = size_argument("--capacity", text);
               if (device.capacity == 0) {
                 throw UsageError("--capacity is 0; expected the memory of a device");
               }
             });
  line.value("--reserve", "SIZE", "With --capacity: memory that others held. Default: 0.",
             [&](const std::string& text) { device.reserve = size_argument("--reserve", text); });
  add_report_options(line, reports);
  line.parse(arguments);
  if (device.capacity > 0) question.device = device;
  if (device.reserve > 0 && device.room() == 0) {
    throw UsageError("--reserve is for less than a --capacity; expected both");
  }
  require_paths(question.input, command);

  Printer printer(reports);
  Progress progress(reports.quiet);
  const VerifyAnswer answered = answer(question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  if (answered.diverged()) return kAnswerIsNo;
  if (answered.applies()) return kDone;
  if (!printer.shows_text()) write_stderr(not_applicable_sentence(answered));
  return kUnusable;
}

}  // namespace memreplay
