#include <optional>

#include "commands/fit.hpp"
#include "extensions/what_if/find/answer.hpp"
#include "extensions/what_if/find/find_report.hpp"
#include "line/commands.hpp"

namespace memreplay {

// The front has read everything; the page is opened before the search, which may take minutes, so
// that a name that cannot be written is refused at once.
int find_value(const FitCommand& asked, const Inputs& inputs, Printer& printer,
               Progress& progress) {
  std::optional<OutputFile> page;
  if (!asked.page.empty()) page.emplace(asked.page);
  const FindQuestion question{.strategies = asked.run.strategies,
                              .setup = asked.run.setup,
                              .cards = asked.cards,
                              .variation = *asked.input.variation,
                              .edits = asked.input.edits,
                              .gpu = asked.input.gpu,
                              .plotted = asked.plot};
  const FindAnswer answered = answer(inputs, question, progress.control());
  progress.clear();
  if (page) page->write([&](std::ostream& out) { write_page(answered, out); });
  printer.print(answered, !asked.page.is_stdout());
  if (answered.interrupted) return kInterrupted;
  return answered.all_fit() ? kDone : kAnswerIsNo;
}

}  // namespace memreplay
