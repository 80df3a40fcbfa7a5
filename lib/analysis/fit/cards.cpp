#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "analysis/fit/fit.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

// Totals in MiB, as CUDA programs under Linux printed them in public logs: the lowest value that
// two independent logs show within 0.2 % of each other. Drivers differ by more than that: the
// newest may keep up to 2 % for themselves. nvidia-smi shows more than programs get. Compute
// capability and multiprocessors are those of NVIDIA's data sheets.
constexpr std::array kCards = {
    Card{"RTX-3080-10GB", 10002 * kMiB, 86, 68},
    Card{"RTX-2080-Ti", 11009 * kMiB, 75, 68},
    Card{"RTX-3060-12GB", 12036 * kMiB, 86, 28},
    Card{"T4", 14912 * kMiB, 75, 40},
    Card{"V100-16GB", 16130 * kMiB, 70, 80},
    Card{"P100-16GB", 16280 * kMiB, 60, 56},
    Card{"L4", 22563 * kMiB, 89, 58},
    Card{"A10G", 22589 * kMiB, 86, 80},
    Card{"A10", 22712 * kMiB, 86, 72},
    Card{"RTX-A5000", 24114 * kMiB, 86, 64},
    Card{"RTX-3090", 24124 * kMiB, 86, 82},
    Card{"RTX-4090", 24209 * kMiB, 89, 128},
    Card{"RTX-5090", 32102 * kMiB, 120, 170},
    Card{"V100-32GB", 32494 * kMiB, 70, 80},
    Card{"A100-40GB", 40441 * kMiB, 80, 108},
    Card{"A40", 45416 * kMiB, 86, 84},
    Card{"L40S", 45495 * kMiB, 89, 142},
    Card{"RTX-A6000", 48676 * kMiB, 86, 84},
    Card{"H100-80GB", 81079 * kMiB, 90, 132},
    Card{"A100-80GB", 81153 * kMiB, 80, 108},
    Card{"H20", 97285 * kMiB, 90, 78},
    Card{"H200", 143156 * kMiB, 90, 132},
    Card{"B200", 182631 * kMiB, 100, 148},
};

// The best-selling cards, among those whose names differ only in what people leave out.
constexpr std::array<std::string_view, 2> kUsual = {"A100-80GB", "V100-16GB"};

/// "NVIDIA A100-SXM4-80GB" as "A100", "80GB": what tells cards apart.
std::vector<std::string> words_of(std::string_view name) {
  constexpr std::array<std::string_view, 11> kSayNothing = {
      "NVIDIA", "GEFORCE", "TESLA", "GPU", "PCIE", "SXM", "SXM2", "SXM4", "SXM5", "HBM3", "HBM3E"};
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (letter == ' ' || letter == '-' || letter == '_') {
      words.emplace_back();
    } else {
      words.back() +=
          letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
  }
  for (std::string& word : words) {  // "40g"
    if (word.size() > 1 && word.find_first_not_of("0123456789") == word.size() - 1 &&
        word.back() == 'G') {
      word += 'B';
    }
  }
  std::erase_if(words, [&](const std::string& word) {
    return word.empty() || std::ranges::find(kSayNothing, word) != kSayNothing.end();
  });
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// 0: the whole name; 1: its words, or some of them; 2: a part of it. Unset: it does not match.
std::optional<int> distance(const Card& card, const std::vector<std::string>& asked) {
  const auto words = words_of(card.name);
  if (joined(words) == joined(asked)) return 0;
  const bool all_there = std::ranges::all_of(asked, [&](const std::string& word) {
    return std::ranges::find(words, word) != words.end() ||
           std::ranges::find(words, word + "GB") != words.end();
  });
  if (all_there) return 1;
  if (joined(words).find(joined(asked)) != std::string::npos) return 2;
  return std::nullopt;
}

std::vector<Card> cards_like(const std::vector<std::string>& asked) {
  std::vector<Card> found;
  int nearest = 3;
  for (const Card& card : kCards) {
    const auto far = asked.empty() ? std::nullopt : distance(card, asked);
    if (!far || *far > nearest) continue;
    if (*far < nearest) found.clear();
    nearest = *far;
    found.push_back(card);
  }
  const auto is_usual = [](const Card& card) {
    return std::ranges::find(kUsual, card.name) != kUsual.end();
  };
  std::stable_partition(found.begin(), found.end(), is_usual);
  return found;
}

}  // namespace

std::span<const Card> cards() { return kCards; }

ChosenCard card_named(const std::string& name) {
  const auto found = cards_like(words_of(name));
  if (found.empty()) {
    std::vector<std::string> known;
    for (const Card& card : kCards) known.emplace_back(card.name);
    throw UsageError("unknown card '" + name + "'" + did_you_mean(name, known) +
                     " (memreplay list cards)");
  }
  ChosenCard chosen{.as_given = name, .card = found.front(), .others = {}};
  for (std::size_t i = 1; i < found.size(); ++i) chosen.others.push_back(found[i].name);
  return chosen;
}

std::vector<Card> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                 FitOptions options, Bytes least, std::size_t count) {
  std::vector<Card> found;
  for (const Card& card : kCards) {
    if (card.total < least || found.size() == count) continue;
    options.trial.device.capacity = card.total;
    const auto device = runs_on(subject, spec, options);
    if (device && device->fits) found.push_back(card);
  }
  return found;
}

}  // namespace memreplay
