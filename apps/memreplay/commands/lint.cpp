#include <fmt/format.h>

#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "questions/lint/answer.hpp"
#include "questions/lint/lint_report.hpp"

namespace memreplay {

int run_lint(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> given;
  LintQuestion question;
  ReportOptions reports;
  CommandLine line(command);
  line.inputs("CONF", given);
  line.value("--torch-version", "X.Y.Z", "Rules of this PyTorch release. Default: the newest.",
             [&](const std::string& text) { question.release = text; });
  add_report_options(line, reports);
  try {
    line.parse(arguments);
  } catch (const UnknownOption& error) {
    if (error.nearest()) throw;
    throw UnknownOption(fmt::format("{}; a setting that begins with '-' goes after '--': memreplay "
                                    "lint -- 'TEXT'",
                                    error.what()),
                        error.name(), error.nearest());
  }
  if (given.size() != 1) throw UsageError("which setting? (memreplay lint CONF, or a recording)");
  question.conf_or_path = given.front();

  Printer printer(reports);
  const LintAnswer answered = answer(question);
  printer.print(answered);
  return answered.valid() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
