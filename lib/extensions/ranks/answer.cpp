#include "extensions/ranks/answer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "extensions/ranks/request_stream.hpp"
#include "questions/explain/answer.hpp"
#include "questions/tune/answer.hpp"
#include "run/rank_files.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {
namespace {

RequestStream stream_of(const RankClass& c, const std::map<Hash128, RanksPart::Stream>& streams) {
  const auto found = streams.find(c.stream);
  try {
    if (found == streams.end()) throw MrtFault("is missing");
    return unpacked(found->second.packed);
  } catch (const MrtFault& fault) {
    throw InputError(c.representative, "", std::string("its requests in a part: ") + fault.what());
  }
}

std::string name_of(Op op) {
  switch (op) {
    case Op::allocate:
      return "request";
    case Op::oom:
      return "refused";
    case Op::empty_cache:
      return "empty_cache";
    case Op::safe_frontier:
      return "safe_frontier";
    case Op::marker:
      return "start";
    default:
      return "free";
  }
}

std::optional<DepartingCall> call_at(const RequestStream& stream, std::size_t call) {
  if (call >= stream.calls.size()) return std::nullopt;
  const Call& made = stream.calls[call];
  return DepartingCall{name_of(made.op), made.size, stream.place(call)};
}

std::uint64_t event_at(const RequestStream& stream, std::size_t call) {
  return call < stream.events.size() ? stream.events[call] : stream.end;
}

Departure departure(std::size_t from, const RequestStream& own, const RequestStream& twin,
                    std::size_t alike) {
  const std::size_t call = first_difference(own, twin, alike);
  return {from, event_at(own, call), event_at(twin, call), call_at(own, call), call_at(twin, call)};
}

std::uint64_t distance(const RankClass& from, const RankClass& to) {
  std::uint64_t least = UINT64_MAX;
  for (const std::uint64_t rank : to.ranks) {
    const std::uint64_t own = from.ranks.front();
    least = std::min(least, rank > own ? rank - own : own - rank);
  }
  return least;
}

// The nearest class is taken of those that go together equally long, as far as their hashes tell.
void find_departures(std::vector<RankClass>& classes,
                     const std::map<Hash128, RanksPart::Stream>& streams) {
  std::vector<Beginnings> beginnings;
  for (const RankClass& c : classes) beginnings.emplace_back(stream_of(c, streams));
  for (std::size_t i = 1; i < classes.size(); ++i) {
    std::size_t twin = 0;
    std::size_t alike = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t common = beginnings[i].common(beginnings[j]);
      const bool nearer = distance(classes[i], classes[j]) < distance(classes[i], classes[twin]);
      if (common > alike || (common == alike && nearer)) twin = j;
      alike = std::max(alike, common);
    }
    if (alike == 0) continue;
    classes[i].departure =
        departure(twin, stream_of(classes[i], streams), stream_of(classes[twin], streams), alike);
  }
}

/// Ranks that stand together.
struct Group {
  std::uint64_t first = 0, last = 0, count = 0;
};

/// The ranks by what they ask for, the largest class first; each of the others with the larger one
/// with which it goes together the longest. `rows` by rank, the streams of all of them. Throws
/// InputError where a stream is damaged.
std::vector<RankClass> classes_of(const std::vector<RankRow>& rows,
                                  const std::map<Hash128, RanksPart::Stream>& streams) {
  std::map<Hash128, RankClass> by_stream;
  for (const RankRow& row : rows) {
    RankClass& c = by_stream[row.stream];
    if (c.ranks.empty()) c = {.representative = row.path, .stream = row.stream};
    c.ranks.push_back(row.rank);
  }
  std::vector<RankClass> classes;
  for (auto& [hash, c] : by_stream) classes.push_back(std::move(c));
  std::ranges::sort(classes, [](const RankClass& a, const RankClass& b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() > b.ranks.size();
    return a.ranks.front() < b.ranks.front();
  });
  find_departures(classes, streams);
  return classes;
}

/// Classes of neighbouring ranks, as many in each, that look like the stages of a pipeline; those
/// that departed stand with their neighbours. Empty where they do not. `peak_of` of a rank.
std::vector<RankStage> stages_of(const std::vector<RankClass>& classes,
                                 const std::map<std::uint64_t, Bytes>& peak_of) {
  std::vector<Group> groups;
  for (const RankClass& c : classes) {
    const Group own{c.ranks.front(), c.ranks.back(), c.ranks.size()};
    const auto around = std::ranges::find_if(groups, [&](const Group& group) {
      return group.first <= own.last && own.first <= group.last;
    });
    if (around == groups.end()) {
      groups.push_back(own);
    } else {
      *around = {std::min(around->first, own.first), std::max(around->last, own.last),
                 around->count + own.count};
    }
  }
  std::ranges::sort(groups, {}, &Group::first);
  const bool even = std::ranges::all_of(groups, [&](const Group& group) {
    return group.count == groups.front().count && group.last - group.first + 1 == group.count;
  });
  if (groups.size() < 2 || !even || groups.front().count < 2) return {};
  std::vector<RankStage> stages;
  for (const Group& group : groups) {
    RankStage& stage = stages.emplace_back(RankStage{group.first, group.last, 0});
    for (auto at = peak_of.lower_bound(group.first); at != peak_of.upper_bound(group.last); ++at) {
      stage.peak_reserved = std::max(stage.peak_reserved, at->second);
    }
  }
  return stages;
}

// The worst last.
auto fares(const RankRow& row, std::size_t run) {
  // The lowest rank among equals counts as the worst, so that it is named.
  return std::tuple(row.runs[run].ooms, row.runs[run].peak_reserved, ~row.rank);
}

Spread spread_of(const std::vector<RankRow>& rows, const RankMetric& metric, std::size_t run) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  // with ranks
  for (const RankRow& row : rows) values.emplace_back(metric.of(row, row.runs[run]), row.rank);
  std::ranges::sort(values);
  const auto highest =
      std::ranges::lower_bound(values, std::pair(values.back().first, std::uint64_t{0}));
  return {.min = values.front().first,
          .median = values[(values.size() - 1) / 2].first,
          .max = highest->first,
          .min_rank = values.front().second,
          .max_rank = highest->second};
}

RanksUnder under(const std::vector<RankRow>& rows, std::size_t run) {
  RanksUnder all;
  std::set<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    names.insert(rows[i].runs[run].strategy);
    if (fares(rows[i], run) > fares(rows[all.worst], run)) all.worst = i;
    all.out_of_memory += rows[i].runs[run].ooms > 0;
  }
  for (const std::string& name : names) {
    all.strategy += (all.strategy.empty() ? "" : " or ") + name;
  }
  for (const RankMetric& metric : rank_metrics()) {
    all.spreads.push_back(spread_of(rows, metric, run));
  }
  return all;
}

auto need(const RanksUnder& all, const std::vector<RankRow>& rows, std::size_t run) {
  std::uint64_t ooms = 0;
  for (const RankRow& row : rows) ooms += row.runs[run].ooms;
  return std::tuple(ooms, all.spreads.front().max);
}

/// Without the notes, which were said when each was read first.
InputOptions reads_again(InputOptions input, std::vector<std::string> paths) {
  input.paths = std::move(paths);
  input.read.progress = {};
  input.read.note = [](const std::string&) {};
  return input;
}

}  // namespace

const std::vector<RankMetric>& rank_metrics() {
  using In = const RankRow&;
  using By = const RankRun&;
  static const std::vector<RankMetric> kMetrics = {
      {"peak_reserved_bytes", "peak reserved", true, [](In, By r) { return r.peak_reserved; }},
      {"peak_allocated_bytes", "peak allocated", true, [](In, By r) { return r.peak_allocated; }},
      {"peak_requested_bytes", "peak requested", true, [](In, By r) { return r.peak_requested; }},
      {"gap_bytes", "gap", true, [](In, By r) { return r.gap(); }},
      {"ooms", "OOMs", false, [](In, By r) { return r.ooms; }},
      {"oom_retries", "retries", false, [](In, By r) { return r.oom_retries; }},
      {"events", "events", false, [](In row, By) { return row.events; }},
  };
  return kMetrics;
}

std::size_t RanksAnswer::class_of(const RankRow& row) const {
  const auto found = std::ranges::find(classes, row.stream, &RankClass::stream);
  return static_cast<std::size_t>(found - classes.begin());
}

int RankRow::home() const {
  const auto has_number = [&](const RankElsewhere& other) {
    return static_cast<std::uint64_t>(other.gpu) == rank;
  };
  return std::ranges::any_of(elsewhere, has_number) ? static_cast<int>(rank) : gpu;
}

std::vector<RankElsewhere> RankRow::away() const {
  std::vector<RankElsewhere> all = elsewhere;
  all.push_back({gpu, runs.front().peak_reserved, {}});
  std::erase_if(all, [&](const RankElsewhere& other) { return other.gpu == home(); });
  return all;
}

std::vector<std::uint64_t> RanksAnswer::owners_of(int gpu) const {
  std::vector<std::uint64_t> owners;
  for (const RankRow& row : part.rows) {
    const bool alone = row.elsewhere.empty() && row.gpu == gpu;
    const bool by_number = static_cast<std::uint64_t>(gpu) == row.rank && row.home() == gpu;
    if (alone || by_number) owners.push_back(row.rank);
  }
  std::ranges::sort(owners);
  return owners;
}

RanksAnswer answer(RanksPart part) {
  RanksAnswer answer{.part = std::move(part)};
  std::vector<RankRow>& rows = answer.part.rows;
  if (rows.empty()) return answer;
  answer.classes = classes_of(rows, answer.part.streams);
  std::ranges::sort(rows,
                    [](const RankRow& a, const RankRow& b) { return fares(a, 0) > fares(b, 0); });
  std::map<std::uint64_t, Bytes> peak_of;
  for (const RankRow& row : rows) peak_of[row.rank] = row.runs.front().peak_reserved;
  for (std::size_t run = 0; run < rows.front().runs.size(); ++run) {
    answer.under.push_back(under(rows, run));
    const auto better = need(answer.under[run], rows, run);
    if (better < need(answer.under[answer.best], rows, answer.best)) answer.best = run;
  }
  answer.stages = stages_of(answer.classes, peak_of);
  return answer;
}

bool are_ranks(const std::vector<std::string>& paths, const RanksAnswer& answer) {
  if (names_show_ranks(paths)) return true;
  const auto goes_on = [](const std::optional<DepartingCall>& call) {
    return call && call->what != name_of(Op::oom);
  };
  return std::ranges::all_of(answer.classes, [&](const RankClass& c) {
    if (&c == &answer.classes.front()) return true;
    return c.departure && !(goes_on(c.departure->call) && goes_on(c.departure->twin_call));
  });
}

void explain_worst(RanksAnswer& answer, const RanksQuestion& question, const Control& control) {
  if (!answer.ran_out()) return;
  const RankRow& worst = answer.part.rows.front();
  InputOptions input = reads_again(question.input, {worst.path});
  input.gpu = worst.gpu;
  ExplainQuestion why{.setup = question.setup};
  if (!question.strategies.empty()) why.strategy = question.strategies.front();
  try {
    ExplainAnswer explained = memreplay::answer(Inputs(input), why, {.stop = control.stop});
    if (explained.devices.size() == 1) answer.why = std::move(explained.devices.front());
  } catch (const InputError&) {  // it is gone: the rows of it stay true
  }
}

void tune(RanksAnswer& answer, const RanksQuestion& question, const Control& control) {
  std::vector<std::string> paths;
  for (const RankClass& c : answer.classes) paths.push_back(c.representative);
  const TuneQuestion tuning{.setup = question.setup, .threads = question.jobs};
  answer.tuned =
      memreplay::answer(Inputs(reads_again(question.input, std::move(paths))), tuning, control);
}

}  // namespace memreplay
