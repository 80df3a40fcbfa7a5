#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "questions/fit/fit.hpp"

namespace memreplay {
namespace {

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
  for (const Card& card : cards()) {
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

ChosenCard card_named(const std::string& name) {
  const auto found = cards_like(words_of(name));
  if (found.empty()) {
    std::vector<std::string> known;
    for (const Card& card : cards()) known.emplace_back(card.name);
    throw UsageError("unknown card '" + name + "'" + did_you_mean(name, known) +
                     " (memreplay list cards)");
  }
  ChosenCard chosen{.as_given = name, .card = found.front(), .others = {}};
  for (std::size_t i = 1; i < found.size(); ++i) chosen.others.push_back(found[i].name);
  return chosen;
}

std::vector<CardTraits> processes_of(const Subject& recorded) {
  const SharedDevice* shared = recorded.shared();
  if (shared == nullptr) return {card_traits(recorded.recording(), recorded.trace())};
  std::vector<CardTraits> processes;
  for (const Sharer& sharer : shared->sharers) {
    processes.push_back(card_traits(sharer.subject->recording(), sharer.subject->trace()));
  }
  return processes;
}

std::optional<GivenDevice> runs_on_card(const Subject& subject, const StrategySpec& spec,
                                        FitOptions options, const Card& card,
                                        const SetAside& aside) {
  const auto runs_with = [&](Bytes usable) {
    if (usable == 0) return std::optional(GivenDevice{});
    options.replaying.device.capacity = std::max(card.total, usable);
    options.replaying.device.reserve = *options.replaying.device.capacity - usable;
    return runs_on(subject, spec, options);
  };
  const BytesInterval usable = usable_on(card, aside);
  auto device = runs_with(usable.low);
  if (!device || device->fits || usable.low == usable.high) return device;
  const auto there = runs_with(card.total - std::min(card.total, aside.bytes()));
  const auto at_most = runs_with(usable.high);
  if (!there || !at_most) return std::nullopt;
  device->may_fit = there->fits || at_most->fits;
  device->first_oom = there->first_oom;
  return device;
}

std::vector<SufficingCard> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                          const FitOptions& options,
                                          const std::function<SetAside(const Card&)>& aside_on,
                                          Bytes least, std::size_t count) {
  std::vector<SufficingCard> found;
  for (const Card& card : cards()) {
    const SetAside aside = aside_on(card);
    if (usable_on(card, aside).low < least || found.size() == count) continue;
    const auto device = runs_on_card(subject, spec, options, card, aside);
    if (device && device->fits) found.push_back({card, aside});
  }
  return found;
}

}  // namespace memreplay
