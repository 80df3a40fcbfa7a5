#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>

#include "core/error.hpp"
#include "extensions/stress/answer.hpp"
#include "extensions/stress/stress_report.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/printing.hpp"
#include "line/terminal.hpp"

namespace memreplay {
namespace {

/// More at once would only be another program.
constexpr std::uint64_t kMostAtOnce = 1000;

struct StressCommand {
  InputOptions input;
  std::vector<std::string> with;
  ReplayQuestion run;
  ReportOptions reports;
  StressQuestion question;
};

std::uint64_t positive_argument(const std::string& option, const std::string& text) {
  const std::uint64_t number = whole_argument(option, text);
  if (number == 0) throw UsageError(option + " is 0; expected 1 or more");
  return number;
}

void add_order_options(CommandLine& line, StressQuestion& question) {
  line.value(
      "--orders", "N", "How many other orders to replay. Default: 6000, fewer for long recordings.",
      [&](const std::string& text) { question.orders = positive_argument("--orders", text); });
  line.value("--seed", "N", "The same seed gives the same orders. Default: 1.",
             [&](const std::string& text) { question.seed = whole_argument("--seed", text); });
  line.value("--at-once", "N", "Steps that run at once, as a server's requests do. Default: 1.",
             [&](const std::string& text) {
               question.in_flight = std::min(positive_argument("--at-once", text), kMostAtOnce);
             });
  line.value(
      "--step", "N", "Count every N events as a step. Default: steps as recorded.",
      [&](const std::string& text) { question.step_events = positive_argument("--step", text); });
  line.value("--threads", "N", "Parallel replays. Default: one per processor core.",
             [&](const std::string& text) {
               question.threads = static_cast<unsigned>(
                   std::clamp<std::uint64_t>(whole_argument("--threads", text), 1, 256));
             });
}

}  // namespace

int run_stress(const Command& command, const std::vector<std::string>& arguments) {
  StressCommand asked;
  asked.question.threads = std::max(1u, std::thread::hardware_concurrency());
  CommandLine line(command);
  add_input_options(line, asked.input);
  add_edit_option(line, asked.input);
  add_order_options(line, asked.question);
  line.repeated_input("--with", "TRACE",
                      "Use the steps of this recording too. May be repeated. Default: none.",
                      [&](const std::string& text) { asked.with.push_back(text); });
  add_strategy_options(line, asked.run);
  add_simulated_device_options(line, asked.run);
  add_start_options(line, asked.run);
  add_report_options(line, asked.reports);
  line.parse(arguments);
  require_paths(asked.input, command);
  asked.question.strategies = asked.run.strategies;
  asked.question.setup = asked.run.setup;

  Printer printer(asked.reports);
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  std::optional<Inputs> others;
  if (!asked.with.empty()) {
    InputOptions with = asked.input;
    with.paths = asked.with;
    asked.question.with = &others.emplace(read_inputs(with, progress));
  }
  const StressAnswer answered = answer(inputs, asked.question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  if (!answered.nothing_to_order()) return kDone;
  if (!printer.shows_text()) write_stderr(nothing_to_order_sentence(answered));
  return kUnusable;
}

}  // namespace memreplay
