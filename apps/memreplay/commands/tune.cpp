#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/text.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "questions/settings/search.hpp"
#include "questions/tune/answer.hpp"
#include "questions/tune/tune_report.hpp"

namespace memreplay {
namespace {

void check_names(const std::string& option, const std::set<std::string>& named,
                 const std::vector<std::string>& known) {
  for (const std::string& text : named) {
    if (std::ranges::find(known, text) != known.end()) continue;
    throw UsageError(fmt::format("{} is '{}'; expected an option that tune varies{} ({})", option,
                                 text, did_you_mean(text, known), fmt::join(known, ", ")));
  }
}

void check_names(const TuneQuestion& q) {
  const std::vector<std::string> known = options_to_vary(q.strategy);
  check_names("--allow", q.allowed, known);
  check_names("--forbid", q.forbidden, known);
}

void add_tune_options(CommandLine& line, TuneQuestion& q) {
  line.value("--strategy,-s", "S",
             "Strategy whose settings to vary; options given here stay. Default: PyTorch's.",
             [&q](const std::string& text) {
               q.strategy = parse_strategy(text);
               if (text == "torch") q.strategy.reset();
             });
  line.value("--objective", "reserved|calls|retries",
             "What to minimise, after OOMs. Default: reserved; retries if the device was full.",
             [&q](const std::string& text) {
               constexpr std::array kObjectives = {Objective::reserved, Objective::calls,
                                                   Objective::retries};
               q.objective = kObjectives.at(
                   choice_argument("--objective", text, {"reserved", "calls", "retries"}));
             });
  line.value("--runs", "N", "Settings to try. Default: 1000, fewer for long recordings.",
             [&q](const std::string& text) {
               q.runs = whole_argument("--runs", text);
               if (*q.runs == 0) throw UsageError("--runs is 0; expected 1 or more");
             });
  line.value("--seconds", "N", "Start no more replays after N seconds. Default: no limit.",
             [&q](const std::string& text) { q.seconds = number_argument("--seconds", text); });
  line.value("--threads", "N", "Parallel replays. Default: one per processor core.",
             [&q](const std::string& text) {
               q.threads = static_cast<unsigned>(
                   std::clamp<std::uint64_t>(whole_argument("--threads", text), 1, 256));
             });
  line.repeated("--allow", "OPTION", "Vary only this option. May be repeated. Default: all.",
                [&q](const std::string& text) { q.allowed.insert(text); });
  line.repeated("--forbid", "OPTION", "Leave this option at its default. May be repeated.",
                [&q](const std::string& text) { q.forbidden.insert(text); });
  line.repeated("--insert", "empty_cache@WHERE",
                "Replay as if the program called it there: at an event, at each scope of a name, "
                "or at each step (step).",
                [&q](const std::string& text) { q.insertions.push_back(text); });
}

}  // namespace

int run_tune(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  ReplayQuestion options;
  ReportOptions reports;
  TuneQuestion question;
  CommandLine line(command);
  add_input_options(line, input);
  add_edit_option(line, input);
  add_tune_options(line, question);
  line.value("--torch-version", "X.Y.Z", "Rules of this PyTorch release. Default: the recording's.",
             [&](const std::string& text) { options.setup.release = text; });
  add_device_options(line, options);
  add_report_options(line, reports);
  line.parse(arguments);
  check_names(question);
  require_paths(input, command);
  question.setup = options.setup;
  if (question.insertions.empty()) input.read.most_in_memory = kMostReplayed;

  Printer printer(reports);
  Progress progress(reports.quiet);
  print_ranks(printer, input, {}, options.setup, progress, reports.colour);
  const Inputs inputs = read_inputs(input, progress);
  const TuneAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  if (answered.result.outcomes.empty() && !answered.nothing_requested) return kInterrupted;
  printer.print(answered);
  return answered.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay
