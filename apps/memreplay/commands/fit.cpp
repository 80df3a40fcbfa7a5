#include "report/fit/fit.hpp"

#include "analysis/fit/cards.hpp"
#include "analysis/fit/question.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"

namespace memreplay {
namespace {

struct FitCommand {
  InputOptions input;
  RunOptions run;
  ReportOptions reports;
  std::string card;  ///< empty: none; "list": all of them are to be named
  std::uint64_t budget = FitQuestion().budget;
};

FitCommand parse(const Command& command, const std::vector<std::string>& arguments) {
  FitCommand asked;
  CommandLine line(command);
  add_input_options(line, asked.input);
  add_strategy_options(line, asked.run);
  add_simulated_device_options(line, asked.run);
  line.value("--device-name", "CARD", "Does it fit that card? `list` names them. Default: none.",
             [&](const std::string& text) {
               if (text.empty()) throw UsageError("--device-name is empty; expected a card");
               asked.card = text;
             });
  add_start_options(line, asked.run);
  line.value("--budget", "N", "Events that each search may replay. Default: 400000000.",
             [&](const std::string& text) { asked.budget = whole_argument("--budget", text); });
  add_report_options(line, asked.reports);
  line.parse(arguments);
  return asked;
}

FitQuestion question_of(const FitCommand& asked) {
  FitQuestion question{.strategies = asked.run.strategies,
                       .setup = asked.run.setup,
                       .card = std::nullopt,
                       .budget = asked.budget};
  if (asked.card.empty()) return question;
  if (question.setup.device.capacity) {
    throw UsageError("--device-name and --capacity both say how large the device is; expected one");
  }
  question.card = card_named(asked.card);
  return question;
}

}  // namespace

int run_fit(const Command& command, const std::vector<std::string>& arguments) {
  const FitCommand asked = parse(command, arguments);
  if (asked.card == "list") {
    write_stdout(cards_text());
    return kDone;
  }
  require_paths(asked.input, command);
  const FitQuestion question = question_of(asked);

  Printer printer(asked.reports);
  const Inputs inputs(asked.input);
  Progress progress(asked.reports.quiet);
  const FitAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  return answered.all_fit() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
