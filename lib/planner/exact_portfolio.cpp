#include "planner/exact_portfolio.hpp"

#include <algorithm>
#include <string_view>
#include <thread>

namespace memreplay {
namespace {

constexpr std::string_view kRankWords[] = {"WAT", "TAW", "TWA"};
constexpr std::uint64_t kNodesUnasked = 500;

}  // namespace

ExactPortfolio::ExactPortfolio(const PlanningProblem& problem, const Sections& sections,
                               Bytes capacity)
    : problem_(problem),
      sections_(sections),
      capacity_(capacity),
      searches_(std::size(kRankWords)) {}

ExactSearch::Outcome ExactPortfolio::run(std::uint64_t nodes, unsigned threads,
                                         const std::function<bool()>& over) {
  std::vector<ExactSearch::Outcome> outcomes(searches_.size(), ExactSearch::Outcome::open);
  const auto go_on = [&](std::size_t i) {
    if (!searches_[i]) {
      searches_[i] = std::make_unique<ExactSearch>(problem_, sections_, capacity_, kRankWords[i]);
    }
    std::uint64_t left = nodes;
    while (left != 0 && outcomes[i] == ExactSearch::Outcome::open && !over()) {
      const std::uint64_t now = std::min(left, kNodesUnasked);
      outcomes[i] = searches_[i]->run(now);
      left -= now;
    }
  };
  const std::size_t at_once = std::clamp<std::size_t>(threads, 1, searches_.size());
  for (std::size_t i = 0; i < searches_.size(); i += at_once) {
    const std::size_t end = std::min(i + at_once, searches_.size());
    {
      std::vector<std::jthread> others;
      for (std::size_t other = i + 1; other < end; ++other) others.emplace_back(go_on, other);
      go_on(i);
    }
    for (answered_by_ = i; answered_by_ < end; ++answered_by_) {
      if (outcomes[answered_by_] != ExactSearch::Outcome::open) return outcomes[answered_by_];
    }
  }
  return ExactSearch::Outcome::open;
}

std::uint64_t ExactPortfolio::nodes() const {
  std::uint64_t nodes = 0;
  for (const auto& search : searches_) nodes += search ? search->nodes() : 0;
  return nodes;
}

std::vector<Bytes> ExactPortfolio::offsets() const { return searches_[answered_by_]->offsets(); }

}  // namespace memreplay
