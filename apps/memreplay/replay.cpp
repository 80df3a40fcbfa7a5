#include "replay/replay.hpp"

#include "command_line.hpp"
#include "options.hpp"
#include "printing.hpp"
#include "replay/subject.hpp"
#include "report/json.hpp"
#include "report/run_table.hpp"
#include "report/text.hpp"
#include "run_files.hpp"
#include "runs.hpp"
#include "terminal.hpp"

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
