#include "analysis/explain/explain.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text.hpp"
#include "explaining.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "report/explain/explain.hpp"

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
  ExplainAsked asked;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  line.value("--at", "EVENT",
             "Look at the memory right before this event. Default: the first OOM, else the peak.",
             [&](const std::string& text) { asked.explain.at = whole_argument("--at", text); });
  line.repeated(
      "--phase", "NAME=FROM:TO", "Peaks of the events in [FROM, TO) beside those annotated.",
      [&](const std::string& text) { asked.explain.phases.push_back(phase_argument(text)); });
  add_strategy_options(line, asked.run);
  add_device_options(line, asked.run);
  add_report_options(line, reports, true);
  line.parse(arguments);
  require_paths(input, command);
  if (asked.run.strategies.size() > 1) {
    throw UsageError("explain looks at one strategy at a time; give -s once");
  }

  Printer printer(reports);
  const Inputs inputs(input);
  watch_for_interrupt();
  Progress progress(reports.quiet);
  std::vector<ExplainReport> explained_all;
  for (const Chosen& chosen : inputs.chosen()) {
    if (interrupted()) break;
    explained_all.push_back(explained(chosen, chosen.subject(progress), asked, progress));
  }
  progress.clear();
  printer.print(
      {[&] { return explain_text(explained_all, terminal_style()); },
       [&] { return explain_json(explained_all); }, [&] { return explain_table(explained_all); },
       [&] { return answered(explain_text(explained_all, {}), explain_table(explained_all)); }});
  return interrupted() ? kInterrupted : kDone;
}

}  // namespace memreplay
