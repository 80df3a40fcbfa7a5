#include "extensions/what_if/vary/calls.hpp"

#include <algorithm>
#include <limits>

#include "trace/frame_kind.hpp"

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

FrameKind kind_of(const Recording& recording, const Frame& frame) {
  return frame_kind(recording.texts[frame.name], recording.texts[frame.file]);
}

bool has_python(const Recording& recording, std::uint32_t stack) {
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t frame) {
    return is_python(kind_of(recording, recording.frames[frame]));
  });
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of("/\\") + 1);  // all of it where there is none
}

/// Lanes and stacks of one recording, each looked up once.
class Numbering {
 public:
  Numbering(const Recording& recording, const Trace& trace, CommonAskers& askers)
      : recording_(recording), trace_(trace), askers_(askers) {}

  CallBlock block(Bytes size, std::uint32_t stack, std::size_t lane) {
    const auto [at, is_new] = known_.try_emplace({stack, lane});
    if (is_new) {
      at->second = {askers_.number(recording_, stack, trace_.lanes[lane]),
                    has_python(recording_, stack)};
    }
    return {size, at->second.first, at->second.second};
  }

 private:
  const Recording& recording_;
  const Trace& trace_;
  CommonAskers& askers_;
  std::map<std::pair<std::uint32_t, std::size_t>, std::pair<std::uint32_t, bool>> known_;
};

/// Takes (ask, free it) out again where it repeats the pair before. What stands for the block that
/// was freed last.
std::uint32_t join_repetition(Calls& calls) {
  const std::size_t n = calls.calls.size();
  const std::uint32_t freed = calls.calls.back().block;
  if (n < 4) return freed;
  const AlignedCall* last = &calls.calls[n - 4];
  const std::uint32_t first = last[0].block;
  const std::uint32_t again = last[2].block;
  const bool pairs = !last[0].frees && last[1].frees && last[1].block == first && !last[2].frees &&
                     last[3].frees && last[3].block == again;
  if (!pairs || again + 1 != calls.blocks.size()) return freed;
  const CallBlock& a = calls.blocks[first];
  const CallBlock& b = calls.blocks[again];
  if (a.size != b.size || a.asker != b.asker) return freed;
  calls.calls.resize(n - 2);
  calls.event_of.resize(n - 2);
  calls.blocks.pop_back();
  return first;
}

}  // namespace

std::uint32_t CommonAskers::number(const Recording& recording, std::uint32_t stack,
                                   StreamPool lane) {
  std::vector<Line> lines;
  for (const std::uint32_t index : recording.stacks[stack]) {
    const Frame& frame = recording.frames[index];
    const FrameKind kind = kind_of(recording, frame);
    if (!is_python(kind)) continue;
    const bool own = kind == FrameKind::own;
    lines.emplace_back(own ? file_name(recording.texts[frame.file]) : std::string(),
                       recording.texts[frame.name], own && by_line_ ? frame.line : kNoLine);
  }
  const auto next = static_cast<std::uint32_t>(numbers_.size());
  return numbers_.try_emplace({std::move(lines), lane.stream, lane.pool}, next).first->second;
}

Calls calls_of(const Recording& recording, const Trace& trace, const BlockLives& lives,
               CommonAskers& askers) {
  Calls calls;
  Numbering numbering(recording, trace, askers);
  calls.block_of_life.reserve(lives.blocks.size());
  for (const BlockLife& life : lives.blocks) {  // the others follow when they are asked for
    if (!life.existed_before()) break;
    calls.block_of_life.push_back(static_cast<std::uint32_t>(calls.blocks.size()));
    const bool freed = life.freed != BlockLife::kNever;  // by whom tells more than who asked
    calls.blocks.push_back(numbering.block(life.size,
                                           freed ? stack_at(trace, life.freed) : life.stack,
                                           freed ? trace.lane_of[life.freed] : 0));
  }
  const auto add = [&](std::size_t event, bool frees, std::uint32_t block) {
    calls.calls.push_back({frees, block});
    calls.event_of.push_back(event);
  };
  for (std::size_t event = 0; event < trace.ops.size(); ++event) {
    const std::uint32_t life = lives.block_of[event];
    if (life == BlockLives::kNone) continue;
    if (life == calls.block_of_life.size()) {
      calls.block_of_life.push_back(static_cast<std::uint32_t>(calls.blocks.size()));
      calls.blocks.push_back(
          numbering.block(lives.blocks[life].size, lives.blocks[life].stack, trace.lane_of[event]));
      calls.blocks.back().call = static_cast<std::uint32_t>(calls.calls.size());
      add(event, false, calls.block_of_life[life]);
    } else if (lives.blocks[life].freed == event) {
      add(event, true, calls.block_of_life[life]);
      calls.block_of_life[life] = join_repetition(calls);
    }
  }
  return calls;
}

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
