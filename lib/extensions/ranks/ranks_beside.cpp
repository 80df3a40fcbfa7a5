#include "extensions/ranks/ranks_beside.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "extensions/ranks/ranks_report.hpp"
#include "line/printing.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

bool can_be_read_again(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::optional<RanksAnswer> ranks_of(const InputOptions& input,
                                    const std::vector<StrategySpec>& strategies, const Setup& setup,
                                    Progress& progress) {
  if (input.paths.size() < 2 || input.variation) return std::nullopt;
  if (!std::ranges::all_of(input.paths, can_be_read_again)) return std::nullopt;
  RanksQuestion question{.input = input, .strategies = strategies, .setup = setup};
  question.input.read.takes_texts = false;
  question.setup.points.reset();
  try {
    RanksPart part = ranks_part(question, progress.control());
    if (part.interrupted || part.rows.size() < 2) return std::nullopt;
    RanksAnswer answered = answer(std::move(part));
    if (!are_ranks(input.paths, answered)) return std::nullopt;
    explain_worst(answered, question, progress.control());
    return answered;
  } catch (const UsageError&) {  // they are no ranks of one program, or the command itself says it
    return std::nullopt;
  }
}

void print_ranks(const Printer& printer, const InputOptions& input,
                 const std::vector<StrategySpec>& strategies, const Setup& setup,
                 Progress& progress, Colour colour, RanksStand stand) {
  if (!printer.shows_text()) return;
  const auto ranks = ranks_of(input, strategies, setup, progress);
  progress.clear();
  if (!ranks) return;
  const TextStyle style = terminal_style(colour);
  const std::string said = ranks_beginning(*ranks, style);
  write_stdout(stand == RanksStand::first ? said + '\n' : '\n' + said, style);
}

}  // namespace memreplay
