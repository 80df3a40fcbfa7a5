#include "commands/fit.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "line/commands.hpp"
#include "line/each_recording.hpp"
#include "line/options.hpp"
#include "line/output_file.hpp"
#include "line/printing.hpp"
#include "line/shared_options.hpp"
#include "line/terminal.hpp"
#include "questions/fit/fit.hpp"
#include "questions/fit/fit_report.hpp"

namespace memreplay {
namespace {

void add_cards(std::string_view text, std::vector<ChosenCard>& cards) {
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    if (name.empty())
      throw UsageError("--device-name is empty; expected a card (memreplay list cards)");
    const ChosenCard chosen = card_named(std::string(name));
    const bool twice = std::ranges::any_of(
        cards, [&](const ChosenCard& other) { return other.card.name == chosen.card.name; });
    if (!twice) cards.push_back(chosen);
    if (comma == text.size()) return;
    text.remove_prefix(comma + 1);
  }
}

void add_card_option(CommandLine& line, std::vector<ChosenCard>& cards) {
  const CommandLine::Group group(line, "Device");
  line.repeated(
      "--device-name", "CARD,...",
      "Does it fit this card (list cards)? Part of a name, as in 4090, is enough. Default: none.",
      [&cards](const std::string& text) { add_cards(text, cards); });
}

void refuse_together(const FitCommand& asked) {
  asked.page.require_page();
  if (asked.page.is_stdout() && asked.reports.takes_stdout()) {
    throw UsageError("only one output can go to standard output");
  }
  if (asked.input.variation) {
    if (asked.budget)
      throw UsageError("--budget limits the search for a size; expected no --find beside it");
  } else if (!asked.page.empty()) {
    throw UsageError(
        "-o writes the curves of --find; expected --vary NAME=VALUE:TRACE and --find NAME");
  }
}

FitCommand parse_fit(const Command& command, const std::vector<std::string>& arguments) {
  FitCommand asked;
  CommandLine line(command);
  add_input_options(line, asked.input);
  add_together_options(line, asked.input);
  add_edit_option(line, asked.input);
  add_variation_options(line, asked.input, AskedOfVariation::find);
  add_strategy_options(line, asked.run);
  add_simulated_device_options(line, asked.run);
  add_card_option(line, asked.cards);
  add_start_options(line, asked.run);
  line.value("--budget", "N", "Most events that each search replays. Default: 400000000.",
             [&](const std::string& text) { asked.budget = whole_argument("--budget", text); });
  add_plot_option(line, asked.plot, "The curves of --find");
  line.output("-o,--output", "F.html", "A page with the curves of --find. Default: none.",
              asked.page);
  add_report_options(line, asked.reports);
  line.parse(arguments);
  refuse_together(asked);
  if (!asked.input.variation && !asked.input.together && can_leave_in_file(asked.run)) {
    asked.input.read.most_in_memory = kMostReplayed;
  }
  return asked;
}

FitQuestion question_of(const FitCommand& asked) {
  FitQuestion question{.strategies = asked.run.strategies,
                       .setup = asked.run.setup,
                       .cards = asked.cards,
                       .budget = asked.budget.value_or(FitQuestion().budget)};
  if (!question.cards.empty() && question.setup.capacity) {
    throw UsageError("--device-name and --capacity both say how large the device is; expected one");
  }
  return question;
}

}  // namespace

int run_fit(const Command& command, const std::vector<std::string>& arguments) {
  FitCommand asked = parse_fit(command, arguments);
  require_paths(asked.input, command);
  const FitQuestion question = question_of(asked);

  Printer printer(asked.reports);
  Progress progress(asked.reports.quiet);
  const Inputs inputs = read_inputs(asked.input, progress);
  if (asked.input.variation) return find_value(asked, inputs, printer, progress);
  const FitAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  printer.print(answered);
  if (answered.interrupted) return kInterrupted;
  return answered.all_fit() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
