#include "verify/verify.hpp"

#include <algorithm>

#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "report/parts/text_style.hpp"
#include "report/run/json.hpp"
#include "report/run/table.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

VerifyReport report_on(const Recording& recording, std::optional<int> gpu,
                       const std::string& version) {
  const auto traces = chosen_traces(recording, gpu);
  VerifyReport report;
  report.trace = traces.empty() ? summarise(recording) : summarise(recording, *traces.front());
  for (const Trace* trace : traces)
    report.runs.push_back(summarise(verify(recording, *trace, version)));
  if (report.runs.empty()) {
    VerifyRun run;
    run.verdict = "unsupported";
    run.reason = "no device with events or memory in it";
    report.runs.push_back(std::move(run));
  }
  return report;
}

int exit_code(const std::vector<VerifyReport>& reports) {
  int code = kUnusable;
  for (const VerifyReport& report : reports) {
    for (const VerifyRun& run : report.runs) {
      if (run.verdict == "diverged" || run.verdict == "resynchronised") return kAnswerIsNo;
      if (run.verdict == "exact") code = kDone;
    }
  }
  return code;
}

}  // namespace

int run_verify(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  ReportOptions reports;
  std::string version;
  CommandLine line(command);
  add_input_options(line, input);
  line.value("--torch-version", "X.Y.Z", "Rules of that PyTorch. Default: those that fit best.",
             [&](const std::string& text) { version = text; });
  add_report_options(line, reports, true);
  line.parse(arguments);
  require_paths(input, command);

  Printer printer(reports);
  watch_for_interrupt();
  Progress progress(reports.quiet);
  std::vector<VerifyReport> verified_reports;
  for (const std::string& path : input.paths) {
    if (interrupted()) break;
    progress.show(path, static_cast<double>(verified_reports.size()) /
                            static_cast<double>(input.paths.size()));
    verified_reports.push_back(report_on(read_recording(path, input.read), input.gpu, version));
  }
  progress.clear();
  printer.print({[&] { return verify_text(verified_reports, terminal_style()); },
                 [&] { return verify_json(verified_reports); },
                 [&] { return verify_table(verified_reports); }});
  return interrupted() ? kInterrupted : exit_code(verified_reports);
}

}  // namespace memreplay
