#include "report/verify/verify.hpp"

#include "analysis/verify/question.hpp"
#include "commands.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"

namespace memreplay {

int run_verify(const Command& command, const std::vector<std::string>& arguments) {
  VerifyQuestion question;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, question.input);
  line.value("--torch-version", "X.Y.Z", "Rules of that PyTorch. Default: those that fit best.",
             [&](const std::string& text) { question.torch_version = text; });
  add_report_options(line, reports);
  line.parse(arguments);
  require_paths(question.input, command);

  Printer printer(reports);
  Progress progress(reports.quiet);
  const VerifyAnswer answered = answer(question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  if (answered.diverged()) return kAnswerIsNo;
  return answered.applies() ? kDone : kUnusable;
}

}  // namespace memreplay
