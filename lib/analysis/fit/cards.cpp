#include "analysis/fit/cards.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

// Totals in MiB, as CUDA programs under Linux printed them in public logs: of values that two
// independent ones show within 0.2 % of each other the lowest. Drivers differ by more than that:
// the newest may keep up to 2 % for themselves. nvidia-smi shows more than programs get.
constexpr std::array kCards = {
    Card{"RTX-3080-10GB", 10002 * kMiB}, Card{"RTX-2080-Ti", 11009 * kMiB},
    Card{"RTX-3060-12GB", 12036 * kMiB}, Card{"T4", 14912 * kMiB},
    Card{"V100-16GB", 16130 * kMiB},     Card{"L4", 22563 * kMiB},
    Card{"A10G", 22589 * kMiB},          Card{"RTX-3090", 24124 * kMiB},
    Card{"RTX-4090", 24209 * kMiB},      Card{"RTX-5090", 32102 * kMiB},
    Card{"V100-32GB", 32494 * kMiB},     Card{"A100-40GB", 40441 * kMiB},
    Card{"A40", 45416 * kMiB},           Card{"L40S", 45495 * kMiB},
    Card{"H100-80GB", 81004 * kMiB},     Card{"A100-80GB", 81153 * kMiB},
    Card{"H200", 143156 * kMiB},
};

std::string plain(std::string_view name) {
  std::string text;
  for (const char letter : name) {
    if (letter == ' ') {
      text += '-';
    } else {
      text += letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
  }
  return text;
}

}  // namespace

std::span<const Card> cards() { return kCards; }

const Card& card_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Card& card : kCards) {
    if (plain(card.name) == plain(name)) return card;
    known.emplace_back(card.name);
  }
  throw UsageError("unknown card '" + name + "'" + did_you_mean(name, known) +
                   " (memreplay fit --device-name list)");
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
