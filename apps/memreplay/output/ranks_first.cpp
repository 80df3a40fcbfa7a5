#include "output/ranks_first.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analysis/ranks/answer.hpp"
#include "core/error.hpp"
#include "output/output_file.hpp"
#include "report/ranks/ranks.hpp"

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
    explain_worst(answered, question, progress.control());
    return answered;
  } catch (const UsageError&) {  // they are no ranks of one program, or the command itself says it
    return std::nullopt;
  }
}

void print_ranks_first(const Printer& printer, const InputOptions& input,
                       const std::vector<StrategySpec>& strategies, const Setup& setup,
                       Progress& progress, Colour colour) {
  if (!printer.shows_text()) return;
  const auto ranks = ranks_of(input, strategies, setup, progress);
  progress.clear();
  if (!ranks) return;
  const TextStyle style = terminal_style(colour);
  write_stdout(ranks_beginning(*ranks, style) + '\n', style);
}

}  // namespace memreplay
