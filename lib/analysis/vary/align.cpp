#include "analysis/vary/align.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace memreplay {
namespace {

__extension__ using AlignWide = unsigned __int128;
using Items = std::span<const AlignItem>;

constexpr int kSameLaw = 3;
constexpr std::size_t kSlack = 150;  ///< added to the band, beside the lengths' difference
constexpr std::size_t kMostCells = std::size_t{64} << 20;  ///< a byte each
constexpr int kUnreached = std::numeric_limits<int>::min() / 2;

enum class Step : std::uint8_t { none, in_second, in_first, pair };

/// The rows of the search: row i has the columns [from, to].
struct BandRow {
  std::size_t from = 0;
  std::size_t to = 0;

  bool holds(std::size_t column) const { return from <= column && column <= to; }
};

BandRow band_row(std::size_t i, std::size_t rows, std::size_t columns, std::size_t band) {
  if (rows == 0) return {0, columns};
  const std::size_t middle = i * columns / rows;
  const std::size_t next = i < rows ? (i + 1) * columns / rows : columns;  // rows touch each other
  return {middle < band ? 0 : middle - band, std::min(columns, std::max(middle + band, next))};
}

bool same_shape(Items first, Items second) {
  if (first.empty() || first.size() != second.size()) return first.size() == second.size();
  const std::uint32_t a = first.front().block;
  const std::uint32_t b = second.front().block;
  return std::ranges::equal(first, second, [&](const AlignItem& x, const AlignItem& y) {
    return x.key == y.key && x.block - a == y.block - b;
  });
}

/// Pairs of anchors whose keys come as often in both, ascending in `first`.
std::vector<AlignedPair> anchors_of(Items first, Items second) {
  std::map<std::uint32_t, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> keys;
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    if (first[i].anchors) keys[first[i].key].first.push_back(i);
  }
  for (std::uint32_t i = 0; i < second.size(); ++i) {
    if (second[i].anchors) keys[second[i].key].second.push_back(i);
  }
  std::vector<AlignedPair> pairs;
  for (const auto& [key, places] : keys) {
    const auto& [a, b] = places;
    if (a.size() != b.size()) continue;
    for (std::size_t i = 0; i < a.size(); ++i) pairs.emplace_back(a[i], b[i]);
  }
  std::ranges::sort(pairs);
  return pairs;
}

/// The most pairs that ascend in both.
std::vector<AlignedPair> ascending(const std::vector<AlignedPair>& pairs) {
  std::vector<std::size_t> ends;  ///< by length: the pair with the lowest end
  std::vector<std::size_t> before(pairs.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::ranges::lower_bound(ends, pairs[i].second, {},
                                             [&](std::size_t end) { return pairs[end].second; });
    if (at != ends.begin()) before[i] = *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<AlignedPair> chain;
  for (std::size_t i = ends.empty() ? pairs.size() : ends.back(); i < pairs.size(); i = before[i]) {
    chain.push_back(pairs[i]);
  }
  std::ranges::reverse(chain);
  return chain;
}

std::size_t band_for(Items first, Items second) {
  const std::size_t longer = std::max(first.size(), second.size());
  const std::size_t apart = longer - std::min(first.size(), second.size());
  const std::size_t fits = kMostCells / (2 * (first.size() + 1));
  return std::max<std::size_t>(1, std::min(apart + kSlack, fits));
}

}  // namespace

int pairing_score(Bytes first, Bytes second, const ParameterValues& values) {
  const auto a = static_cast<AlignWide>(values.first);
  const auto b = static_cast<AlignWide>(values.second);
  if (first == second || first * b == second * a || first * (b * b) == second * (a * a)) {
    return kSameLaw;
  }
  return (first < second) == (values.first < values.second) ? 1 : -1;
}

std::vector<AlignedPair> align_in_band(Items first, Items second, const ParameterValues& values,
                                       std::size_t band) {
  const std::size_t rows = first.size();
  const std::size_t columns = second.size();
  std::vector<std::vector<Step>> steps(rows + 1);
  std::vector<int> above;
  BandRow above_row;
  for (std::size_t i = 0; i <= rows; ++i) {
    const BandRow row = band_row(i, rows, columns, band);
    std::vector<int> scores(row.to - row.from + 1, kUnreached);
    steps[i].assign(scores.size(), Step::none);
    const auto offer = [&](std::size_t j, int score, Step step) {
      if (score < scores[j - row.from]) return;
      scores[j - row.from] = score;
      steps[i][j - row.from] = step;
    };
    for (std::size_t j = row.from; j <= row.to; ++j) {
      if (i == 0 && j == 0) offer(0, 0, Step::none);
      if (i > 0 && above_row.holds(j)) offer(j, above[j - above_row.from], Step::in_first);
      if (j > row.from) offer(j, scores[j - 1 - row.from], Step::in_second);
      if (i == 0 || j == 0 || !above_row.holds(j - 1)) continue;
      if (first[i - 1].key != second[j - 1].key) continue;
      offer(j,
            above[j - 1 - above_row.from] +
                pairing_score(first[i - 1].size, second[j - 1].size, values),
            Step::pair);
    }
    above = std::move(scores);
    above_row = row;
  }
  std::vector<AlignedPair> pairs;
  for (std::size_t i = rows, j = columns; i > 0 || j > 0;) {
    const Step step = steps[i][j - band_row(i, rows, columns, band).from];
    if (step == Step::pair) {
      pairs.emplace_back(static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1));
    }
    if (step != Step::in_second) --i;
    if (step != Step::in_first) --j;
  }
  std::ranges::reverse(pairs);
  return pairs;
}

std::vector<AlignedPair> align(Items first, Items second, const ParameterValues& values) {
  std::vector<AlignedPair> pairs;
  std::size_t a = 0;
  std::size_t b = 0;
  const auto search_up_to = [&](std::size_t to_a, std::size_t to_b) {
    const Items x = first.subspan(a, to_a - a);
    const Items y = second.subspan(b, to_b - b);
    if (same_shape(x, y)) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        pairs.emplace_back(static_cast<std::uint32_t>(a + i), static_cast<std::uint32_t>(b + i));
      }
    } else {
      for (const auto& [i, j] : align_in_band(x, y, values, band_for(x, y))) {
        pairs.emplace_back(static_cast<std::uint32_t>(a + i), static_cast<std::uint32_t>(b + j));
      }
    }
    a = to_a;
    b = to_b;
  };
  if (!same_shape(first, second)) {
    for (const auto& [i, j] : ascending(anchors_of(first, second))) search_up_to(i, j);
  }
  search_up_to(first.size(), second.size());
  return pairs;
}

}  // namespace memreplay
