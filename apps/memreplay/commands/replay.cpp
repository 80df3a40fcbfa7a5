#include "replay/replay.hpp"

#include "commands/runs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/run_files.hpp"
#include "output/terminal.hpp"
#include "report/parts/text_style.hpp"
#include "report/run/json.hpp"
#include "report/run/table.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

std::vector<StrategySpec> likeliest(const Recording& recording, const RunOptions&) {
  return {usual_strategy(recording)};
}

}  // namespace

int run_replay(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  add_run_options(line, options);
  add_plot_option(line, options.plot);
  add_report_options(line, reports, true);
  line.parse(arguments);
  require_paths(input, command);

  Printer printer(reports);
  const Runs runs = run_all(input, options, reports, likeliest);
  printer.print({[&] {
                   return replay_text(runs.reports, terminal_style()) +
                          appendices(options, runs.reports);
                 },
                 [&] { return replay_json("replay", runs.reports); },
                 [&] { return run_numbers(runs.reports); }},
                !takes_stdout(options));
  return runs.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
