#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/run_outputs.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "questions/replay/replay_report.hpp"
#include "run/phase_settings.hpp"
#include "run/question.hpp"

namespace memreplay {
namespace {

void add_phase_option(CommandLine& line, Setup& setup) {
  const CommandLine::Group group(line, "General", Shown::in_help_all);
  line.repeated(
      "--set", "CONF@phase:NAME",
      "PyTorch settings for a phase; after it the strategy's own again.",
      [&setup](const std::string& text) { setup.phase_settings.push_back(phase_setting(text)); });
}

int run_either(const Command& command, const std::vector<std::string>& arguments, bool ranked) {
  using Usual = ReplayQuestion::Usual;
  InputOptions input;
  ReplayQuestion question{
      .usual = ranked ? Usual::presets : Usual::recorded, .setup = {}, .ranked = ranked};
  RunPaths paths;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  add_together_options(line, input);
  add_edit_option(line, input);
  add_variation_options(line, input, AskedOfVariation::at);
  add_run_options(line, question, paths);
  add_phase_option(line, question.setup);
  if (!ranked) add_plot_option(line, paths.plot);
  add_report_options(line, reports);
  line.parse(arguments);
  require_paths(input, command);
  if (input.together) question.setup.stop_at_oom = true;  // whoever is refused is gone
  if (paths.plot || !paths.perfetto.empty()) question.setup.points = paths.points;
  const bool usual_ones_plan = ranked && question.strategies.empty();
  const bool in_file = !usual_ones_plan && question.setup.phase_settings.empty() &&
                       input.edits.empty() && !input.variation &&
                       !input.together;  // need the whole of it
  if (in_file && can_leave_in_file(question, paths)) input.read.most_in_memory = kMostReadOnce;

  Printer printer(reports);
  const std::vector<OpenDevice> devices = open_devices(question.setup, question.strategies);
  Progress progress(reports.quiet);
  const Inputs inputs = read_inputs(input, progress);
  RunOutputs outputs(paths, reports);
  const ReplayAnswer answered =
      answer(inputs, devices, question, progress.control(), outputs.progress());
  progress.clear();
  if (!answered.interrupted) outputs.commit();
  printer.print(answered, !takes_stdout(paths));
  return answered.interrupted ? kInterrupted : kDone;
}

}  // namespace

int run_replay(const Command& command, const std::vector<std::string>& arguments) {
  return run_either(command, arguments, false);
}

int run_compare(const Command& command, const std::vector<std::string>& arguments) {
  return run_either(command, arguments, true);
}

}  // namespace memreplay
