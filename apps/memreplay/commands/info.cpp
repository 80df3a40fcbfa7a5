#include <algorithm>
#include <iterator>

#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/shared_options.hpp"
#include "questions/info/answer.hpp"
#include "questions/info/info_report.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kPlotPoints = 20'000;

}  // namespace

int run_info(const Command& command, const std::vector<std::string>& arguments) {
  InfoQuestion question;
  ReportOptions reports;
  bool plotted = false;
  CommandLine line(command);
  add_input_options(line, question.input);
  add_plot_option(line, plotted);
  line.value("--select", "KEY=VALUE,...", "Show which blocks an edit's selector picks.",
             [&](const std::string& text) {
               check_selector("--select", text);
               question.select = text;
             });
  add_report_options(line, reports, Has::text);
  line.parse(arguments);
  require_paths(question.input, command);
  if (plotted) question.points = kPlotPoints;
  if (!question.select) question.input.read.most_in_memory = kMostReadOnce;

  Printer printer(reports);
  Progress progress(reports.quiet);
  InfoAnswer all;
  const auto ask = [&](const InputOptions& one) {
    return answer({one, question.select, question.points}, {});
  };
  const int status = EachRecording(question.input, progress).ask(ask, [&](InfoAnswer answered) {
    std::ranges::move(answered.traces, std::back_inserter(all.traces));
    return true;
  });
  progress.clear();
  if (!all.traces.empty()) printer.print(all);
  return status;
}

}  // namespace memreplay
