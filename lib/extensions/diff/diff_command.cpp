#include <fmt/format.h>

#include "core/error.hpp"
#include "extensions/diff/answer.hpp"
#include "extensions/diff/diff_report.hpp"
#include "line/command_line.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

std::string number_of_strategies(std::size_t strategies) {
  if (strategies == 0) return "no strategy";
  return strategies == 1 ? "one strategy" : fmt::format("{} strategies", strategies);
}

void check(const DiffQuestion& question, std::size_t files, const Command& command) {
  const std::size_t strategies = question.strategies.size();
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("{} (memreplay {} {})", what, command.name, command.arguments));
  };
  if (files > 2) {
    refuse(fmt::format("{} recordings; expected two, or one and two strategies", files));
  }
  if (files == 1 && strategies != 2) {
    refuse(fmt::format("one recording and {}; expected a second recording, or -s twice",
                       number_of_strategies(strategies)));
  }
  if (files == 2 && strategies > 1) {
    refuse(fmt::format("two recordings and {} strategies; expected one at most", strategies));
  }
  if (files == 1 && question.at_step) refuse("--at-step is for two recordings");
}

}  // namespace

int run_diff(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  ReplayQuestion run;
  ReportOptions reports;
  DiffQuestion question;
  CommandLine line(command);
  add_input_options(line, input);
  line.value(
      "--at-step", "N", "Compare the peaks within step N. Default: of the whole recordings.",
      [&](const std::string& text) { question.at_step = whole_argument("--at-step", text); });
  add_place_options(line, question.by, question.rows);
  add_strategy_options(line, run);
  add_device_options(line, run);
  add_start_options(line, run);
  add_report_options(line, reports);
  line.parse(arguments);
  require_paths(input, command);
  question.strategies = run.strategies;
  question.setup = run.setup;
  check(question, input.paths.size(), command);

  Printer printer(reports);
  Progress progress(reports.quiet);
  const Inputs inputs = read_inputs(input, progress);
  const DiffAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  const auto print = [&](const auto& diff) {
    if (diff.interrupted) return kInterrupted;
    printer.print(diff);
    return kDone;
  };
  return std::visit(print, answered);
}

}  // namespace memreplay
