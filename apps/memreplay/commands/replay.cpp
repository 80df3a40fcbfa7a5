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

ReplayQuestion question_of(const RunOptions& options, bool ranked) {
  using Usual = ReplayQuestion::Usual;
  ReplayQuestion question{.strategies = options.strategies,
                          .usual = ranked ? Usual::presets : Usual::recorded,
                          .setup = options.setup,
                          .ranked = ranked,
                          .torch_summary = options.torch_summary};
  if (options.plot || !options.perfetto.empty()) question.setup.points = options.points;
  return question;
}

void add_phase_option(CommandLine& line, RunOptions& options) {
  const CommandLine::Group group(line, "General", Shown::in_help_all);
  line.repeated("--set", "CONF@phase:NAME",
                "PyTorch settings for a phase; after it the strategy's own again.",
                [&options](const std::string& text) {
                  options.setup.phase_settings.push_back(phase_setting(text));
                });
}

int run_either(const Command& command, const std::vector<std::string>& arguments, bool ranked) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  CommandLine line(command);
  add_input_options(line, input);
  add_together_options(line, input);
  add_edit_option(line, input);
  add_variation_options(line, input, AskedOfVariation::at);
  add_run_options(line, options);
  add_phase_option(line, options);
  if (!ranked) add_plot_option(line, options.plot);
  add_report_options(line, reports);
  line.parse(arguments);
  require_paths(input, command);
  if (input.together) options.setup.stop_at_oom = true;  // whoever is refused is gone
  const bool usual_ones_plan = ranked && options.strategies.empty();
  const bool in_file = !usual_ones_plan && options.setup.phase_settings.empty() &&
                       input.edits.empty() && !input.variation &&
                       !input.together;  // need the whole of it
  if (in_file && can_leave_in_file(options)) input.read.most_in_memory = kMostReadOnce;

  Printer printer(reports);
  const std::vector<OpenDevice> devices = open_devices(options.setup, options.strategies);
  Progress progress(reports.quiet);
  const Inputs inputs = read_inputs(input, progress);
  RunOutputs outputs(options, reports);
  const ReplayAnswer answered =
      answer(inputs, devices, question_of(options, ranked), progress.control(), outputs.progress());
  progress.clear();
  if (!answered.interrupted) outputs.commit();
  printer.print(answered, !takes_stdout(options));
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
