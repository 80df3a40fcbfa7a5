#include "analysis/ranks/classes.hpp"

#include <algorithm>
#include <utility>

#include "analysis/ranks/request_stream.hpp"
#include "core/error.hpp"
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

}  // namespace

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

}  // namespace memreplay
