#include "extensions/planner/irreducible.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "extensions/planner/planner.hpp"

namespace memreplay {
namespace {

using Rows = std::vector<std::uint32_t>;

class Reduction {
 public:
  Reduction(const PlanningProblem& problem, Bytes capacity, double seconds, const Control& control)
      : problem_(problem), capacity_(capacity), seconds_(seconds), control_(control) {}

  IrreducibleSet run() {
    rows_ = overfull_instant();
    if (rows_.empty()) {
      rows_.resize(problem_.blocks.size());
      std::iota(rows_.begin(), rows_.end(), 0u);
    } else {
      drop_small();
    }
    for (std::size_t length = rows_.size(); length > 1;) {
      length = (length + 1) / 2;
      drop_runs(length);
      length = std::min(length, rows_.size());
    }
    if (rows_.size() == 1) drop_runs(1);
    std::sort(rows_.begin(), rows_.end());
    return {std::move(rows_), decided_};
  }

 private:
  /// All that is in use at the instant with most bytes, if that is too much; else empty.
  Rows overfull_instant() const {
    std::vector<BlockUse> uses = uses_of(problem_);
    std::vector<std::pair<std::uint64_t, std::int64_t>> changes;  // frees first
    for (const BlockUse& use : uses) {
      const auto bytes = static_cast<std::int64_t>(use.high - use.low);
      changes.emplace_back(use.from, bytes);
      changes.emplace_back(use.to, -bytes);
    }
    std::sort(changes.begin(), changes.end());
    Bytes live = 0;
    Bytes peak = 0;
    std::uint64_t instant = 0;
    for (const auto& [time, bytes] : changes) {
      live += static_cast<Bytes>(bytes);
      if (live > peak) instant = time;
      peak = std::max(peak, live);
    }
    Rows rows;
    if (peak <= capacity_) return rows;
    for (const BlockUse& use : uses) {
      if (use.from <= instant && instant < use.to) rows.push_back(use.row);
    }
    return rows;
  }

  /// As long as the others are too many bytes for themselves.
  void drop_small() {
    if (!problem_.plain()) return;
    std::stable_sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return problem_.blocks[a].size < problem_.blocks[b].size;
    });
    Bytes sum = 0;
    for (const std::uint32_t row : rows_) sum += problem_.blocks[row].size;
    std::erase_if(rows_, [&](std::uint32_t row) {
      const bool drops = sum - problem_.blocks[row].size > capacity_;
      if (drops) sum -= problem_.blocks[row].size;
      return drops;
    });
  }

  /// Leaves out so many at a time, wherever the others still do not fit.
  void drop_runs(std::size_t length) {
    for (std::size_t from = 0; from < rows_.size();) {
      const std::size_t to = std::min(from + length, rows_.size());
      Rows others(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(from));
      others.insert(others.end(), rows_.begin() + static_cast<std::ptrdiff_t>(to), rows_.end());
      if (!others.empty() && impossible(others, length == 1)) {
        rows_ = std::move(others);
      } else {
        from = to;
      }
    }
  }

  bool impossible(const Rows& rows, bool must_be_decided) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    const double left = seconds_ - elapsed.count();
    PlannerOptions options{.capacity = capacity_};
    options.seconds = must_be_decided ? left : std::min(left, seconds_ / 20);
    const PlannedMemory planned = plan_memory(part_of(problem_, rows), options, control_);
    if (must_be_decided && !planned.impossible && !planned.packing) decided_ = false;
    return planned.impossible;
  }

  const PlanningProblem& problem_;
  Bytes capacity_ = 0;
  double seconds_ = 0;
  const Control& control_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Rows rows_;
  bool decided_ = true;
};

}  // namespace

IrreducibleSet irreducible_set(const PlanningProblem& problem, Bytes capacity, double seconds,
                               const Control& control) {
  return Reduction(problem, capacity, seconds, control).run();
}

}  // namespace memreplay
