#include "analysis/fit/fit.hpp"

#include <algorithm>

#include "analysis/fit/cards.hpp"
#include "analysis/late_start/late_start.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "replay/exactness.hpp"
#include "report/fit/fit.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kCardsNamed = 3;

struct FitCommand {
  InputOptions input;
  RunOptions run;
  ReportOptions reports;
  std::string card;
  std::uint64_t budget = FitOptions().budget;
};

// How a recording that starts late would have begun on another device is rehearsed: the state that
// it began with may not even fit there.
FitOptions fit_options(const FitCommand& asked, const LateStart& late, const StrategySpec& spec) {
  FitOptions options;
  options.trial.device = asked.run.device;
  options.trial.torch_version = asked.run.torch_version;
  options.trial.uses = asked.run.uses;
  options.replaying.start = asked.run.start;
  options.replaying.ignore_empty_cache = asked.run.ignore_empty_cache;
  options.replaying.cancelled = &interrupted();
  if (late.applies()) options.replaying.begin_with = late.warm().after_earlier_steps(spec);
  options.budget = asked.budget;
  return options;
}

FitRun fit_run(const Subject& subject, const StrategySpec& spec, const FitOptions& options) {
  FitRun run;
  run.fit = fit(subject, spec, options);
  run.there.strategy = spec.text;
  run.there.gpu = subject.trace().gpu;
  if (!run.fit.there) return run;
  const Bytes room = *run.fit.smallest - options.trial.device.reserve;
  run.there.inexact_because =
      why_inexact(subject, spec, options.trial.torch_version, room, *run.fit.there);
  if (run.fit.bounded_by_start && run.there.inexact_because.empty()) {
    run.there.inexact_because =
        "the recording starts with that much reserved, and how it would have started on a smaller "
        "device is not in it";
  }
  run.there.exact = run.there.inexact_because.empty();
  run.there.metrics = run.fit.there->metrics;
  return run;
}

std::vector<StrategySpec> strategies_for(const Recording& recording, const RunOptions& options) {
  if (!options.strategies.empty()) return options.strategies;
  return {usual_strategy(recording)};
}

void name_cards(const Subject& subject, const std::vector<StrategySpec>& strategies,
                const FitCommand& asked, const LateStart& late, FitReport& report) {
  const FitRun* best = best_of(report.runs);
  if (best == nullptr || asked.run.device.capacity || interrupted()) return;
  const auto& spec = strategies[static_cast<std::size_t>(best - report.runs.data())];
  FitOptions options = fit_options(asked, late, spec);
  if (!asked.run.reserve_given) options.trial.device.reserve = kContext;
  report.held_on_cards = options.trial.device.reserve;
  const Bytes least = *best->fit.smallest - report.reserve + report.held_on_cards;
  auto cards = cards_that_fit(subject, spec, options, least, kCardsNamed);
  if (!interrupted()) report.cards = std::move(cards);
}

FitReport report_on(const Chosen& chosen, const FitCommand& asked, Progress& progress) {
  FitReport report;
  report.trace = summarise(*chosen.recording, *chosen.trace);
  report.device = summarise(asked.run.device);
  if (!asked.card.empty()) report.device.name = card_named(asked.card).name;
  report.reserve = asked.run.device.reserve;
  report.context_assumed = !asked.card.empty() && !asked.run.reserve_given;
  const Subject subject = chosen.subject(progress);
  report.model_check = model_check(subject);
  const LateStart late(
      subject, {.start = asked.run.start, .ignore_empty_cache = asked.run.ignore_empty_cache});
  const std::vector<StrategySpec> strategies = strategies_for(*chosen.recording, asked.run);
  for (const StrategySpec& spec : strategies) {
    if (interrupted()) break;
    FitOptions options = fit_options(asked, late, spec);
    options.trying = [&](std::optional<Bytes> capacity, double spent) {
      progress.show(spec.text + (capacity ? " on " + human_size(*capacity) : ""), spent);
    };
    report.runs.push_back(fit_run(subject, spec, options));
  }
  name_cards(subject, strategies, asked, late, report);
  return report;
}

void take_card(FitCommand& asked) {
  if (asked.card.empty()) return;
  if (asked.run.device.capacity) {
    throw UsageError("--device-name and --capacity both say how large the device is; expected one");
  }
  asked.run.device.capacity = card_named(asked.card).total;
  if (!asked.run.reserve_given) asked.run.device.reserve = kContext;
}

}  // namespace

int run_fit(const Command& command, const std::vector<std::string>& arguments) {
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
  add_report_options(line, asked.reports, true);
  line.parse(arguments);
  if (asked.card == "list") {
    write_stdout(cards_text());
    return kDone;
  }
  require_paths(asked.input, command);
  take_card(asked);

  Printer printer(asked.reports);
  const Inputs inputs(asked.input);
  watch_for_interrupt();
  Progress progress(asked.reports.quiet);
  std::vector<FitReport> reports;
  for (const Chosen& chosen : inputs.chosen()) {
    if (interrupted()) break;
    reports.push_back(report_on(chosen, asked, progress));
  }
  progress.clear();
  printer.print({[&] { return fit_text(reports, terminal_style()); },
                 [&] { return fit_json(reports); }, [&] { return fit_table(reports); },
                 [&] { return answered(fit_text(reports, {}), fit_table(reports)); }});
  if (interrupted()) return kInterrupted;
  return all_fit(reports) ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
