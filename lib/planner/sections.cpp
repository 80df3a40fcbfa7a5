#include "planner/sections.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memreplay {
namespace {

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

}  // namespace memreplay
