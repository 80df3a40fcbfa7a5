#pragma once

#include <string>
#include <vector>

#include "analysis/fit/cards.hpp"
#include "analysis/fit/fit.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "report/results.hpp"

namespace memreplay {

struct FitRun {
  Fit fit;
  RunReport there;  ///< on the smallest device; of it only the name where there is none
};

/// One trace, one device of it: the smallest device for each strategy.
struct FitReport {
  TraceSummary trace;
  DeviceSummary device;          ///< its capacity is the device that was asked for
  Bytes reserve = 0;             ///< of every capacity, held by others
  bool context_assumed = false;  ///< the reserve is that of a card's context
  std::vector<FitRun> runs;
  std::optional<VerifyRun> model_check;
  /// On which the best strategy runs beside `held_on_cards`; nothing where nobody looked.
  std::optional<std::vector<Card>> cards;
  Bytes held_on_cards = 0;
};

/// The run that needs the smallest device, of those that move no blocks away if there are any;
/// null where none fits.
const FitRun* best_of(const std::vector<FitRun>& runs);
/// What every run of these was asked for: false where one does not fit, or fits nowhere.
bool all_fit(const std::vector<FitReport>& reports);

std::string fit_text(const std::vector<FitReport>& reports, const TextStyle& style);
std::string fit_json(const std::vector<FitReport>& reports);
/// For CSV and Markdown.
Table fit_table(const std::vector<FitReport>& reports);
/// The cards by name, with what a process can use of them.
std::string cards_text();

}  // namespace memreplay
