#include "commands/runs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/run_files.hpp"
#include "output/terminal.hpp"
#include "presets.hpp"
#include "report/parts/text_style.hpp"
#include "report/ranking.hpp"
#include "report/run/json.hpp"
#include "report/run/table.hpp"

namespace memreplay {
namespace {

std::vector<ReplayReport> by_place(std::vector<ReplayReport> reports) {
  for (ReplayReport& report : reports) sort_by_place(report.runs);
  return reports;
}

}  // namespace

int run_compare(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  add_run_options(line, options);
  add_report_options(line, reports, true);
  line.parse(arguments);
  require_paths(input, command);

  Printer printer(reports);
  const Runs runs = run_all(input, options, reports, presets);
  printer.print({[&] {
                   return compare_text(runs.reports, terminal_style()) +
                          appendices(options, by_place(runs.reports));
                 },
                 [&] { return replay_json("compare", by_place(runs.reports)); },
                 [&] { return run_numbers(by_place(runs.reports)); }},
                !takes_stdout(options));
  return runs.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
