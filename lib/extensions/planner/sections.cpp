#include "extensions/planner/sections.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace memreplay {
namespace {

using ContentionRow = std::uint32_t;
constexpr ContentionRow kNoRow = UINT32_MAX;

struct SectionEdge {
  std::uint64_t time = 0;
  bool begins = false;  ///< ends come first at equal times
  std::uint32_t use = 0;

  friend auto operator<=>(const SectionEdge&, const SectionEdge&) = default;
};

class SectionSweep {
 public:
  explicit SectionSweep(const PlanningProblem& problem)
      : problem_(problem), uses_(uses_of(problem)) {}

  Sections run() {
    std::vector<SectionEdge> edges;
    edges.reserve(2 * uses_.size());
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      edges.push_back({uses_[i].from, true, i});
      edges.push_back({uses_[i].to, false, i});
    }
    std::sort(edges.begin(), edges.end());
    first_.resize(uses_.size());
    last_.resize(uses_.size());
    std::uint64_t closed = 0;
    for (const SectionEdge& edge : edges) {
      if (edge.begins) {
        begin(edge.use);
        continue;
      }
      if (result_.count() == 0 || closed < edge.time) close();
      closed = edge.time;
      last_[edge.use] = result_.count();
      std::erase(active_, edge.use);
    }
    list_runs();
    list_neighbours();
    return std::move(result_);
  }

 private:
  struct Meeting {
    std::uint32_t above = 0;
    Bytes rise = 0;

    friend auto operator<=>(const Meeting&, const Meeting&) = default;
  };

  void begin(std::uint32_t use) {
    first_[use] = result_.count();
    for (const std::uint32_t other : active_) {
      if (uses_[use].row == uses_[other].row) continue;
      meetings_.emplace_back(use, other);
    }
    active_.push_back(use);
  }

  void close() {
    for (const std::uint32_t use : active_) result_.members.items.push_back(uses_[use].row);
    result_.members.begins.push_back(static_cast<std::uint32_t>(result_.members.items.size()));
  }

  void list_runs() {
    std::size_t use = 0;
    for (std::uint32_t row = 0; row < problem_.blocks.size(); ++row) {
      for (; use < uses_.size() && uses_[use].row == row; ++use) {
        result_.runs.items.push_back({first_[use], last_[use], uses_[use].high - uses_[use].low});
      }
      result_.runs.begins.push_back(static_cast<std::uint32_t>(result_.runs.items.size()));
    }
  }

  /// Both sides of every meeting of two uses, by row.
  void list_neighbours() {
    std::vector<std::uint32_t>& begins = result_.neighbours.begins;
    begins.assign(problem_.blocks.size() + 1, 0);
    for (const auto& [a, b] : meetings_) {
      ++begins[uses_[a].row + 1];
      ++begins[uses_[b].row + 1];
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<std::uint32_t> next = begins;
    result_.neighbours.items.resize(begins.back());
    if (problem_.gaps.empty()) {
      for (const auto& [a, b] : meetings_) {
        result_.neighbours.items[next[uses_[a].row]++] = uses_[b].row;
        result_.neighbours.items[next[uses_[b].row]++] = uses_[a].row;
      }
      return;
    }
    std::vector<Meeting> all(begins.back());
    for (const auto& [a, b] : meetings_) {
      all[next[uses_[a].row]++] = meeting(uses_[a], uses_[b]);
      all[next[uses_[b].row]++] = meeting(uses_[b], uses_[a]);
    }
    list_once(all, begins);
  }

  static Meeting meeting(const BlockUse& below, const BlockUse& above) {
    return {above.row, below.high > above.low ? below.high - above.low : 0};
  }

  /// Lists each pair of blocks once; where they meet more than once, the largest rise counts.
  void list_once(std::vector<Meeting>& all, std::vector<std::uint32_t> ends) {
    result_.neighbours.items.clear();
    const bool windows =
        std::ranges::any_of(problem_.gaps, [](const BlockGap& gap) { return gap.low < gap.high; });
    for (std::size_t row = 0; row + 1 < ends.size(); ++row) {
      const auto from = all.begin() + ends[row];
      const auto to = all.begin() + ends[row + 1];
      std::sort(from, to);
      for (auto one = from; one != to; ++one) {
        if (one + 1 != to && (one + 1)->above == one->above) continue;
        result_.neighbours.items.push_back(one->above);
        if (windows) result_.rises.push_back(one->rise);
      }
      result_.neighbours.begins[row + 1] =
          static_cast<std::uint32_t>(result_.neighbours.items.size());
    }
  }

  const PlanningProblem& problem_;
  std::vector<BlockUse> uses_;
  std::vector<std::uint32_t> first_;  ///< by use: its sections
  std::vector<std::uint32_t> last_;
  std::vector<std::uint32_t> active_;                              ///< uses
  std::vector<std::pair<std::uint32_t, std::uint32_t>> meetings_;  ///< pairs of uses
  Sections result_;
};

}  // namespace

Sections sections_of(const PlanningProblem& problem) { return SectionSweep(problem).run(); }

class ContentionSearch::State {
 public:
  State(const PlanningProblem& problem, const Sections& sections, Bytes capacity)
      : problem_(problem),
        sections_(sections),
        capacity_(capacity),
        lowest_(problem.blocks.size()),
        placed_(problem.blocks.size()),
        most_minor_(2 * static_cast<int>(std::bit_width(problem.blocks.size()))) {
    order_by_contention();
    for (ContentionRow row = 0; row < placed_.size(); ++row) {
      lowest_[row] = lowest_free(row);
      if (lowest_[row] == kNowhere) outcome_ = Outcome::given_up;
    }
    path_.emplace_back();
  }

  Outcome run(std::uint64_t nodes) {
    for (; outcome_ == Outcome::open && nodes != 0; --nodes) step();
    return outcome_;
  }
  const std::vector<Bytes>& offsets() const { return lowest_; }

 private:
  static constexpr Bytes kNowhere = UINT64_MAX;

  struct OldLowest {
    ContentionRow row = 0;
    Bytes lowest = 0;
  };
  /// A choice of the next block.
  struct Choice {
    ContentionRow row = kNoRow;            ///< the one that was chosen
    ContentionRow starved = kNoRow;        ///< to be tried before all others
    std::vector<ContentionRow> forbidden;  ///< rows that led nowhere
    std::size_t mark = 0;                  ///< number of `old_` places before it was placed

    bool forbids(ContentionRow next) const { return std::ranges::count(forbidden, next) != 0; }
  };

  /// Each block counts in the densest section of its life.
  void order_by_contention() {
    std::vector<Bytes> live(sections_.count());
    for (std::uint32_t s = 0; s < live.size(); ++s) {
      for (const ContentionRow row : sections_.members[s]) live[s] += problem_.blocks[row].size;
    }
    std::vector<std::uint32_t> densest(live.size());
    std::iota(densest.begin(), densest.end(), 0);
    std::ranges::stable_sort(densest, std::greater(), [&](std::uint32_t s) { return live[s]; });
    std::vector<std::uint8_t> listed(placed_.size());
    for (const std::uint32_t s : densest) {
      for (const ContentionRow row : sections_.members[s]) {
        if (listed[row]++ == 0) order_.push_back(row);
      }
      if (phases_.empty() || phases_.back() != order_.size()) phases_.push_back(order_.size());
    }
  }

  /// The lowest place among the blocks placed, or kNowhere.
  Bytes lowest_free(ContentionRow row) {
    const PlannedBlock& block = problem_.blocks[row];
    around_.clear();
    for (const ContentionRow other : sections_.neighbours[row]) {
      if (placed_[other] != 0) around_.push_back(other);
    }
    std::ranges::sort(around_, {}, [&](ContentionRow other) { return lowest_[other]; });
    const std::optional<Bytes> given = problem_.place_of(row);
    Bytes at = given.value_or(0);
    for (const ContentionRow other : around_) {
      const Bytes top = lowest_[other] + problem_.blocks[other].size;
      if (at + block.size <= lowest_[other]) break;
      if (top <= at) continue;
      if (given) return kNowhere;
      at = round_up(top, block.alignment);
    }
    return at + block.size <= capacity_ ? at : kNowhere;
  }

  /// The block that has no place any more, or kNoRow.
  ContentionRow place(ContentionRow row) {
    placed_[row] = 1;
    const Bytes from = lowest_[row];
    const Bytes to = from + problem_.blocks[row].size;
    for (const ContentionRow other : sections_.neighbours[row]) {
      const Bytes at = lowest_[other];
      if (placed_[other] != 0 || at >= to || at + problem_.blocks[other].size <= from) continue;
      const Bytes next = lowest_free(other);
      if (next == kNowhere) return other;
      old_.push_back({other, at});
      lowest_[other] = next;
    }
    return kNoRow;
  }

  void take_back(ContentionRow row, std::size_t mark) {
    placed_[row] = 0;
    for (; old_.size() > mark; old_.pop_back()) lowest_[old_.back().row] = old_.back().lowest;
  }

  /// Blocks of the densest phase that is not placed, at most one for each measure.
  std::vector<ContentionRow> candidates(const Choice& choice) const {
    std::vector<ContentionRow> rows;
    if (choice.starved != kNoRow && !choice.forbids(choice.starved)) rows = {choice.starved};
    const auto is_open = [&](ContentionRow row) {
      return placed_[row] == 0 && !choice.forbids(row);
    };
    std::size_t first = 0;
    for (const std::size_t last : phases_) {
      const auto phase = std::span(order_).subspan(first, last - first);
      first = last;
      if (std::ranges::all_of(phase, [&](ContentionRow row) { return placed_[row] != 0; })) {
        continue;
      }
      const auto add_largest = [&](const auto& measure) {
        ContentionRow largest = kNoRow;
        for (const ContentionRow row : phase) {
          if (!is_open(row) || std::ranges::count(rows, row) != 0) continue;
          if (largest == kNoRow || measure(row) > measure(largest)) largest = row;
        }
        if (largest != kNoRow) rows.push_back(largest);
      };
      const auto& blocks = problem_.blocks;
      add_largest([&](ContentionRow row) { return blocks[row].length(); });
      add_largest([&](ContentionRow row) { return blocks[row].size; });
      add_largest([&](ContentionRow row) {
        return static_cast<double>(blocks[row].size) * static_cast<double>(blocks[row].length());
      });
      break;
    }
    return rows;
  }

  void step() {
    if (path_.size() > order_.size()) {
      outcome_ = Outcome::found;
      return;
    }
    Choice& choice = path_.back();
    ContentionRow starved = kNoRow;
    for (const ContentionRow row : candidates(choice)) {
      choice.mark = old_.size();
      const ContentionRow without_place = place(row);
      if (without_place == kNoRow) {
        choice.row = row;
        path_.emplace_back();
        if (path_.size() > record_) {
          record_ = path_.size();
          minor_ = 0;
        }
        return;
      }
      take_back(row, choice.mark);
      if (starved == kNoRow) starved = without_place;
    }
    go_back(starved);
  }

  /// One choice, or after many that led to no more blocks placed, to the first in the way.
  void go_back(ContentionRow starved) {
    if (path_.size() == 1) {
      outcome_ = Outcome::given_up;
      return;
    }
    std::size_t to = path_.size() - 2;
    if (++minor_ > most_minor_ && starved != kNoRow) {
      const auto near = sections_.neighbours[starved];
      std::size_t first = 0;
      while (first < to && std::ranges::count(near, path_[first].row) == 0) ++first;
      to = first;
      minor_ = 0;
      record_ = to + 1;
    }
    while (path_.size() > to + 1) {
      path_.pop_back();
      take_back(path_.back().row, path_.back().mark);
    }
    Choice& choice = path_.back();
    choice.forbidden.push_back(choice.row);
    choice.starved = starved;
  }

  const PlanningProblem& problem_;
  const Sections& sections_;
  Bytes capacity_ = 0;
  Outcome outcome_ = Outcome::open;
  std::vector<ContentionRow> order_;  ///< the densest phase first
  std::vector<std::size_t> phases_;   ///< ends in `order_`
  std::vector<Bytes> lowest_;         ///< by row: its place, or the lowest that is free for it
  std::vector<std::uint8_t> placed_;  ///< by row
  std::vector<OldLowest> old_;
  std::vector<Choice> path_;
  std::vector<ContentionRow> around_;
  std::size_t record_ = 0;  ///< the longest path since the last long way back
  int minor_ = 0;           ///< choices taken back since that
  int most_minor_ = 0;
};

ContentionSearch::ContentionSearch(const PlanningProblem& problem, const Sections& sections,
                                   Bytes capacity)
    : state_(std::make_unique<State>(problem, sections, capacity)) {}
ContentionSearch::~ContentionSearch() = default;

ContentionSearch::Outcome ContentionSearch::run(std::uint64_t nodes) { return state_->run(nodes); }
std::vector<Bytes> ContentionSearch::offsets() const { return state_->offsets(); }

}  // namespace memreplay
