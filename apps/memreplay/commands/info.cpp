#include "analysis/late_start/warm_start.hpp"
#include "analysis/recorded/recorded_picture.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "report/parts/text_style.hpp"
#include "report/run/json.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kPlotPoints = 20'000;

// Costs a verification and some rehearsals: only where something was alive that tells of before.
void look_before(const Recording& recording, const Trace& trace, TraceSummary& summary) {
  if (trace.coverage.preexisting_blocks == 0 || !is_torch(recording)) return;
  const Subject subject(recording, trace);
  if (!WarmStart::applies_to(subject)) return;
  const EarlierSteps steps = WarmStart(subject, {}).earlier_steps();
  summary.warm_class = name_of(steps.kind);
  summary.largest_earlier_step = steps.largest;
}

}  // namespace

int run_info(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  bool plotted = false;
  add_plot_option(line, plotted);
  add_report_options(line, reports, false);
  line.parse(arguments);
  require_paths(input, command);

  Printer printer(reports);
  std::vector<TraceSummary> summaries;
  for (const std::string& path : input.paths) {
    const Recording recording = read_recording(path, input.read);
    const auto traces = chosen_traces(recording, input.gpu);
    for (const Trace* trace : traces) {
      summaries.push_back(summarise(recording, *trace));
      if (plotted) summaries.back().picture = recorded_picture(*trace, kPlotPoints);
      look_before(recording, *trace, summaries.back());
    }
    if (traces.empty()) summaries.push_back(summarise(recording));
  }
  printer.print({[&] { return info_text(summaries, terminal_style()); },
                 [&] { return info_json(summaries); },
                 {}});
  return kDone;
}

}  // namespace memreplay
