#include "extensions/planner/exact_search.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "extensions/planner/partial_packing.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kRankWords[] = {"WAT", "TAW", "TWA"};
constexpr std::uint64_t kNodesUnasked = 500;

using Height = PartialPacking::Height;
using Row = PartialPacking::Row;

constexpr std::uint32_t kNowhere = UINT32_MAX;

__extension__ using RankArea = unsigned __int128;

template <typename T>
std::uint32_t height_of(const std::vector<T>& stack) {
  return static_cast<std::uint32_t>(stack.size());
}

}  // namespace

class ExactSearch::State {
 public:
  State(const PlanningProblem& problem, const Sections& sections, Bytes capacity,
        std::string_view word)
      : problem_(problem), sections_(sections), packing_(problem, sections, capacity), word_(word) {
    if (packing_.hopeless()) {
      outcome_ = Outcome::impossible;
    } else {
      begin();
    }
  }

  Outcome run(std::uint64_t nodes) {
    const std::uint64_t until = nodes_ + nodes;
    while (outcome_ == Outcome::open && nodes_ < until) step();
    return outcome_;
  }

  std::uint64_t nodes() const { return nodes_; }

  std::vector<Bytes> offsets() const {
    std::vector<Bytes> offsets;
    for (Row row = 0; row < problem_.blocks.size(); ++row) {
      offsets.push_back(static_cast<Bytes>(packing_.lowest(row)));
    }
    return offsets;
  }

 private:
  /// A block of a part with its rank among the others of it.
  struct RankedRow {
    Row row = 0;
    std::uint32_t rank = 0;
  };

  struct SearchCandidate {
    Height offset = 0;
    std::uint32_t rank = 0;
    Row row = 0;

    friend auto operator<=>(const SearchCandidate&, const SearchCandidate&) = default;
  };

  /// Sections [first, last), and a list of the blocks in them, which may hold some that are placed.
  struct SearchPart {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t rows_from = 0;  ///< in the stack of ranked rows
    std::uint32_t rows_to = 0;
    std::uint32_t unplaced = 0;

    std::uint32_t listed() const { return rows_to - rows_from; }
  };

  /// What remains to be solved when the part at hand is done.
  struct RemainingPart {
    SearchPart part;
    std::uint32_t owner = kNowhere;  ///< the node whose block split it off; it fails with this part
    std::uint32_t next = kNowhere;
  };

  struct SearchNode {
    SearchPart part;
    Height least = 0;                    ///< nothing may be placed below any more
    std::uint32_t least_rank = 0;        ///< at `least` itself
    std::uint32_t back = kNowhere;       ///< the node to go on with when this one fails
    std::uint32_t remaining = kNowhere;  ///< a RemainingPart
    std::uint32_t candidates_from = 0;
    std::uint32_t candidate = 0;  ///< the next to be tried
    bool no_alternatives = false;
    Row placed = kNowhere;
    // The stacks as they were before its current candidate was placed.
    PartialPacking::Mark mark;
    std::uint32_t rows_mark = 0;
    std::uint32_t candidates_mark = 0;
    std::uint32_t remaining_mark = 0;
  };

  void begin();
  void begin_rest(std::uint32_t remaining);
  void list_unplaced(SearchPart& part);
  void rank(const SearchPart& part);
  void begin_node(SearchNode node);
  void list_candidates(const SearchNode& node, Height highest);
  void step();
  void fail();
  void take_back(SearchNode& node);
  void go_on(std::uint32_t index, const SearchCandidate& candidate);
  void split(std::uint32_t index);

  const PlanningProblem& problem_;
  const Sections& sections_;
  PartialPacking packing_;
  std::string word_;
  Outcome outcome_ = Outcome::open;
  std::uint64_t nodes_ = 0;

  std::vector<SearchNode> path_;
  std::vector<RankedRow> rows_;
  std::vector<SearchCandidate> candidates_;
  std::vector<RemainingPart> remaining_;
};

// Blocks that use nothing at any time take no part; they may lie anywhere. Parts that share no time
// are apart from the start.
void ExactSearch::State::begin() {
  SearchPart all{.last = sections_.count()};
  for (Row row = 0; row < problem_.blocks.size(); ++row) {
    if (!sections_.runs[row].empty()) rows_.push_back({row, 0});
  }
  all.rows_to = height_of(rows_);
  std::uint32_t next = kNowhere;
  for (std::uint32_t s = sections_.count(); s-- > 0;) {
    if (s != 0 && packing_.spanning(s - 1) != 0) continue;
    SearchPart part = all;
    part.first = s;
    list_unplaced(part);
    remaining_.push_back({part, kNowhere, next});
    next = height_of(remaining_) - 1;
    all.last = s;
  }
  begin_rest(next);
}

void ExactSearch::State::begin_rest(std::uint32_t remaining) {
  if (remaining == kNowhere) {
    outcome_ = Outcome::found;
    return;
  }
  const RemainingPart rest = remaining_[remaining];
  rank(rest.part);
  begin_node({.part = rest.part,
              .least = rest.owner == kNowhere ? 0 : packing_.lowest(path_[rest.owner].placed),
              .back = rest.owner,
              .remaining = rest.next});
}

/// The blocks of its list that are not placed and begin in its sections become the list.
void ExactSearch::State::list_unplaced(SearchPart& part) {
  const std::uint32_t from = part.rows_from;
  const std::uint32_t to = part.rows_to;
  part.rows_from = height_of(rows_);
  for (std::uint32_t i = from; i < to; ++i) {
    const RankedRow ranked = rows_[i];
    if (packing_.is_placed(ranked.row)) continue;
    const std::uint32_t begins = sections_.first(ranked.row);
    if (part.first <= begins && begins < part.last) rows_.push_back(ranked);
  }
  part.rows_to = height_of(rows_);
  part.unplaced = part.listed();
}

void ExactSearch::State::rank(const SearchPart& part) {
  struct Key {
    RankArea area;
    std::uint64_t length;
    Height lowest_ceiling;
    Bytes size;
    Row row;
  };
  std::vector<Key> keys;
  for (std::uint32_t i = part.rows_from; i < part.rows_to; ++i) {
    const Row row = rows_[i].row;
    const PlannedBlock& block = problem_.blocks[row];
    Height lowest_ceiling = PartialPacking::kTooHigh;
    for (const Sections::Run& run : sections_.runs[row]) {
      for (std::uint32_t s = run.first; s < run.last; ++s) {
        lowest_ceiling = std::min(lowest_ceiling, packing_.ceiling(s));
      }
    }
    keys.push_back({static_cast<RankArea>(block.size) * block.length(), block.length(),
                    lowest_ceiling, block.size, row});
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    for (const char letter : word_) {
      if (letter == 'W' && a.length != b.length) return a.length > b.length;
      if (letter == 'A' && a.area != b.area) return a.area > b.area;
      if (letter == 'T' && a.lowest_ceiling != b.lowest_ceiling) {
        return a.lowest_ceiling < b.lowest_ceiling;
      }
      if (letter == 'Z' && a.size != b.size) return a.size > b.size;
    }
    return a.row < b.row;
  });
  for (std::uint32_t i = 0; i < keys.size(); ++i) rows_[part.rows_from + i] = {keys[i].row, i};
}

/// Nothing may be placed next where another block would fit completely below, as that one was to
/// come first, or above a ceiling of the part: its own sections it fills, and in the others nothing
/// is placed below it any more.
void ExactSearch::State::begin_node(SearchNode node) {
  ++nodes_;
  Height highest = PartialPacking::kTooHigh;
  for (std::uint32_t i = node.part.rows_from; i < node.part.rows_to; ++i) {
    const Row row = rows_[i].row;
    if (!packing_.is_placed(row)) highest = std::min(highest, packing_.top(row) - 1);
  }
  if (!sections_.has_windows()) {
    for (std::uint32_t s = node.part.first; s < node.part.last; ++s) {
      highest = std::min(highest, packing_.ceiling(s));
    }
  }
  node.candidates_from = height_of(candidates_);
  node.candidate = node.candidates_from;
  list_candidates(node, highest);
  node.mark = packing_.mark();
  node.candidates_mark = height_of(candidates_);
  node.rows_mark = height_of(rows_);
  node.remaining_mark = height_of(remaining_);
  path_.push_back(node);
}

// Packings are canonical: offsets never fall from one block to the next, and of equal ones ranks
// do not.
void ExactSearch::State::list_candidates(const SearchNode& node, Height highest) {
  for (std::uint32_t i = node.part.rows_from; i < node.part.rows_to; ++i) {
    const RankedRow ranked = rows_[i];
    const Height at = packing_.lowest(ranked.row);
    if (at > highest || at < node.least || packing_.is_placed(ranked.row)) continue;
    if (at == node.least && ranked.rank < node.least_rank) continue;
    candidates_.push_back({at, ranked.rank, ranked.row});
  }
  std::sort(candidates_.begin() + node.candidates_from, candidates_.end());
}

void ExactSearch::State::take_back(SearchNode& node) {
  if (node.placed == kNowhere) return;
  packing_.take_back(node.placed, node.mark);
  rows_.resize(node.rows_mark);
  candidates_.resize(node.candidates_mark);
  remaining_.resize(node.remaining_mark);
  node.placed = kNowhere;
}

/// One node further, or back until there is one, or none.
void ExactSearch::State::step() {
  while (outcome_ == Outcome::open) {
    const std::uint32_t index = height_of(path_) - 1;
    SearchNode& node = path_[index];
    take_back(node);
    if (node.candidate == node.candidates_mark || node.no_alternatives) {
      fail();
      continue;
    }
    const SearchCandidate candidate = candidates_[node.candidate++];
    node.placed = candidate.row;
    const bool possible = packing_.place(candidate.row);
    // Whatever else came first here would not make it lie elsewhere.
    node.no_alternatives = packing_.hatless();
    if (!possible) continue;
    go_on(index, candidate);
    return;
  }
}

/// Back to the node that decides otherwise; parts that were solved in between fail with this one.
void ExactSearch::State::fail() {
  const std::uint32_t back = path_.back().back;
  if (back == kNowhere) {
    outcome_ = Outcome::impossible;
    return;
  }
  while (height_of(path_) > back + 1) {
    take_back(path_.back());
    path_.pop_back();
  }
}

void ExactSearch::State::go_on(std::uint32_t index, const SearchCandidate& candidate) {
  const SearchNode& node = path_[index];
  if (node.part.unplaced == 1) {
    begin_rest(node.remaining);
    return;
  }
  if (!packing_.cuts().empty()) {
    split(index);
    return;
  }
  SearchNode child{.part = node.part,
                   .least = candidate.offset,
                   .least_rank = candidate.rank,
                   .back = index,
                   .remaining = node.remaining};
  --child.part.unplaced;
  if (2 * child.part.unplaced < child.part.listed()) list_unplaced(child.part);
  begin_node(child);
}

/// Solves parts apart that no block joins any more.
void ExactSearch::State::split(std::uint32_t index) {
  SearchPart part = path_[index].part;
  const SearchPart whole = part;
  std::vector<SearchPart> parts;
  const auto end_part = [&](std::uint32_t section) {
    part.last = section;
    part.rows_from = whole.rows_from;
    part.rows_to = whole.rows_to;
    list_unplaced(part);
    if (part.unplaced != 0) parts.push_back(part);
    part.first = section;
  };
  for (const std::uint32_t cut : packing_.cuts()) end_part(cut);
  end_part(whole.last);
  std::uint32_t next = path_[index].remaining;
  for (std::size_t i = parts.size(); i-- > 0;) {
    remaining_.push_back({parts[i], index, next});
    next = height_of(remaining_) - 1;
  }
  begin_rest(next);
}

ExactSearch::ExactSearch(const PlanningProblem& problem, const Sections& sections, Bytes capacity,
                         std::string_view word)
    : state_(std::make_unique<State>(problem, sections, capacity, word)) {}
ExactSearch::~ExactSearch() = default;

ExactSearch::Outcome ExactSearch::run(std::uint64_t nodes) { return state_->run(nodes); }
std::uint64_t ExactSearch::nodes() const { return state_->nodes(); }
std::vector<Bytes> ExactSearch::offsets() const { return state_->offsets(); }

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
