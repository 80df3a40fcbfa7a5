#include "extensions/what_if/suggest/answer.hpp"
#include "extensions/what_if/suggest/suggest_report.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

struct SuggestCommand {
  InputOptions input;
  ReplayQuestion run;
  ReportOptions reports;
  SuggestQuestion question;
};

SuggestCommand parse_suggest(const Command& command, const std::vector<std::string>& arguments) {
  SuggestCommand asked;
  CommandLine line(command);
  add_input_options(line, asked.input);
  add_edit_option(line, asked.input);
  add_strategy_options(line, asked.run);
  line.value(
      "--budget", "SIZE",
      "Memory that it has to fit in. Default: the device of a recorded failure.",
      [&](const std::string& text) { asked.question.budget = size_argument("--budget", text); });
  line.value(
      "--reserve", "SIZE", "Memory of the device that others hold. Default: 0.",
      [&](const std::string& text) { asked.run.setup.reserve = size_argument("--reserve", text); });
  line.value("--only", "checkpoint|offload", "Suggest only this kind of change. Default: both.",
             [&](const std::string& text) {
               const auto only = choice_argument("--only", text, {"checkpoint", "offload"});
               asked.question.checkpoint = only == 0;
               asked.question.offload = only == 1;
             });
  line.value("--optimizer", "adam|momentum|sgd",
             "The optimizer, if the recording ends before its first step. Default: adam.",
             [&](const std::string& text) {
               const auto kind = choice_argument("--optimizer", text, {"adam", "momentum", "sgd"});
               asked.question.states = 2 - static_cast<std::uint32_t>(kind);
             });
  add_start_options(line, asked.run);
  add_report_options(line, asked.reports);
  line.parse(arguments);
  asked.question.strategies = asked.run.strategies;
  asked.question.setup = asked.run.setup;
  return asked;
}

}  // namespace

int run_suggest(const Command& command, const std::vector<std::string>& arguments) {
  SuggestCommand asked = parse_suggest(command, arguments);
  require_paths(asked.input, command);

  Printer printer(asked.reports);
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  const SuggestAnswer answered = answer(inputs, asked.question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  return answered.all_fit() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
