#include "strategy/torch/roundup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/text.hpp"
#include "strategy/torch/numbers.hpp"

namespace memreplay::torch {
namespace {

// Beyond this no size that a device has is rounded any further.
constexpr std::uint64_t kFinest = std::uint64_t{1} << 31;

std::optional<std::uint32_t> divisions(const std::string& text, const Release& release) {
  const auto number = whole_prefix(text, release);
  if (!number || (number->value != 0 && !std::has_single_bit(number->value))) return std::nullopt;
  return static_cast<std::uint32_t>(std::min(number->value, kFinest));
}

std::optional<std::size_t> index_of(const std::string& text, const Release& release) {
  const auto mebibytes = whole_prefix(text, release);
  if (!mebibytes || !std::has_single_bit(mebibytes->value)) return std::nullopt;
  return std::min<std::size_t>(std::bit_width(mebibytes->value) - 1, RoundupTable{}.size() - 1);
}

void refuse(const ConfEntry& entry, std::string_view expected, SettingIssues& issues) {
  issues.push_back({SettingIssue::Severity::error,
                    fmt::format("{} is '{}'; expected {}", entry.key, entry.value, expected)});
}

}  // namespace

void read_roundup(const ConfEntry& entry, const Release& release, RoundupTable& table,
                  SettingIssues& issues) {
  if (!entry.value.starts_with('[')) {
    const auto all = divisions(entry.value, release);
    if (!all || *all == 0) {
      return refuse(entry, "a power of two, or a list [256:1,512:2,>:4]", issues);
    }
    return table.fill(*all);
  }
  const auto pairs = split_list(entry, release, issues);
  if (!pairs) return;
  bool first = true;
  std::size_t last = 0;
  for (const auto& [key, text] : *pairs) {
    const auto value = divisions(text, release);
    const auto index = index_of(key, release);
    if (!value || (key != ">" && !index)) {
      return refuse(entry, "pairs SIZE:DIVISIONS, both powers of two, SIZE in MiB or >", issues);
    }
    if (key == ">") {
      // The old parser overwrites the entry that was named last.
      const std::size_t from = last + (release.has(kNewParser) ? 1 : 0);
      std::fill(table.begin() + static_cast<std::ptrdiff_t>(from), table.end(), *value);
      continue;
    }
    if (first) std::fill_n(table.begin(), *index, *value);
    first = false;
    table[*index] = *value;
    last = *index;
  }
}

std::string roundup_in_words(const RoundupTable& table) {
  std::string words;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i > 0 && table[i] == table[i - 1]) continue;
    if (i == 0) {
      const auto end = std::ranges::find_if(table, [&](auto other) { return other != table[0]; });
      if (end == table.end()) return fmt::format("{} for all sizes", table[0]);
      const auto bound = end - table.begin();
      words = fmt::format("{} below {}", table[0], human_size(kMiB << bound));
    } else {
      words += fmt::format(", {} from {}", table[i], human_size(kMiB << i));
    }
  }
  return words;
}

}  // namespace memreplay::torch
