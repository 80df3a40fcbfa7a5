#include "report/explain/explain.hpp"

#include <fmt/format.h>

#include "analysis/explain/question.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"

namespace memreplay {
namespace {

// "forward=100:250"
Phase phase_argument(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::size_t colon = text.rfind(':');
  if (equals != std::string::npos && colon != std::string::npos && equals < colon && equals > 0) {
    const auto from = parse_whole(text.substr(equals + 1, colon - equals - 1));
    const auto to = parse_whole(text.substr(colon + 1));
    if (from && to && *from < *to) return {text.substr(0, equals), *from, *to, 0};
  }
  throw UsageError(
      fmt::format("--phase is '{}'; expected NAME=FROM:TO, events in [FROM, TO)", text));
}

}  // namespace

int run_explain(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  ExplainQuestion question;
  CommandLine line(command);
  add_input_options(line, input);
  line.value("--at", "EVENT",
             "Look at the memory right before this event. Default: the first OOM, else the peak.",
             [&](const std::string& text) { question.at = whole_argument("--at", text); });
  line.repeated("--phase", "NAME=FROM:TO",
                "Peaks of the events in [FROM, TO) beside those annotated.",
                [&](const std::string& text) { question.phases.push_back(phase_argument(text)); });
  add_strategy_options(line, options);
  add_device_options(line, options);
  add_report_options(line, reports);
  line.parse(arguments);
  require_paths(input, command);
  if (options.strategies.size() > 1) {
    throw UsageError("explain looks at one strategy at a time; give -s once");
  }
  if (!options.strategies.empty()) question.strategy = options.strategies.front();
  question.setup = options.setup;

  Printer printer(reports);
  const Inputs inputs(input);
  Progress progress(reports.quiet);
  const ExplainAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  printer.print(answered);
  return answered.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
