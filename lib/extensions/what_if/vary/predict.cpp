#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <map>
#include <utility>

#include "extensions/what_if/vary/restage.hpp"
#include "extensions/what_if/vary/size_law.hpp"
#include "extensions/what_if/vary/study.hpp"
#include "extensions/what_if/vary/varied_program.hpp"
#include "program/libraries.hpp"
#include "program/places.hpp"

namespace memreplay {
namespace {

/// A share of the number of requests: with less, recordings part for other reasons than a longer
/// loop.
constexpr double kLeastGrowth = 1.0 / 16;

/// The recording whose value is nearest in proportion, the larger among equals.
std::size_t nearest_to(std::span<const Varied> varied, std::int64_t at) {
  const auto distance = [&](const Varied& one) {
    return std::abs(std::log(static_cast<double>(one.value) / static_cast<double>(at)));
  };
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < varied.size(); ++i) {
    if (distance(varied[i]) <= distance(varied[nearest])) nearest = i;
  }
  return nearest;
}

/// Which of the sizes that a block may have.
enum class SizeChoice { likeliest, least, most };

/// The sizes that one block may have at the value that was asked for.
struct SizeSpan {
  Bytes likeliest = 0;
  Bytes least = 0;
  Bytes most = 0;
  bool guessed = false;

  Bytes of(SizeChoice choice) const {
    if (choice == SizeChoice::likeliest) return likeliest;
    return choice == SizeChoice::least ? least : most;
  }
  auto operator<=>(const SizeSpan&) const = default;
};

SizeSpan span_of(std::span<const SizeAt> points, const LawFamily& family, std::int64_t at) {
  const std::vector<SizeLaw> laws = laws_through(points, family);
  const Bytes likeliest = laws.front().at(at);
  SizeSpan span{likeliest, likeliest, likeliest, laws.front().kind == SizeLaw::Kind::guess};
  for (const SizeLaw& law : laws) {
    span.least = std::min(span.least, law.at(at));
    span.most = std::max(span.most, law.at(at));
  }
  return span;
}

/// By block: what convolutions of cuDNN work in, which is freed before anything else is asked for.
/// The library chooses an algorithm by shapes, and its workspace by that: no law is the program's,
/// but none grows faster than what is computed.
std::vector<bool> workspaces_of(const Study& study, std::size_t structure) {
  const Calls& calls = study.calls(structure);
  std::vector<bool> workspaces(calls.blocks.size());
  const Subject& subject = study.subject(structure);
  if (!card_traits(subject.recording(), subject.trace()).loaded.has(CardLibrary::cudnn)) {
    return workspaces;
  }
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    if (freed_at_once(calls, i)) workspaces[calls.calls[i].block] = true;
  }
  return workspaces;
}

/// The sizes at a value of blocks of the structure.
class SizesAt {
 public:
  SizesAt(const Study& study, std::size_t structure, const std::vector<Lining>& linings,
          std::int64_t at);

  int degree() const { return family_.degree; }
  bool has_workspaces() const { return has_workspaces_; }
  std::uint64_t without_law() const;
  /// Blocks of which more than one size is plausible.
  std::uint64_t open() const;
  std::vector<Bytes> of(SizeChoice choice) const;

 private:
  SizeSpan alone(const SizeAt& point) const;

  std::int64_t at_;
  LawFamily family_;
  std::vector<SizeSpan> spans_;  ///< by block
  bool has_workspaces_ = false;
  std::map<Bytes, std::map<SizeSpan, std::size_t>> alike_;  ///< by recorded size: how many
};

SizesAt::SizesAt(const Study& study, std::size_t structure, const std::vector<Lining>& linings,
                 std::int64_t at)
    : at_(at) {
  const Calls& calls = study.calls(structure);
  std::vector<std::vector<SizeAt>> seen(calls.blocks.size());
  for (std::size_t block = 0; block < calls.blocks.size(); ++block) {
    std::vector<SizeAt>& points = seen[block];
    points.push_back({study.value(structure), calls.blocks[block].size});
    for (const Lining& lining : linings) {
      const std::uint32_t same = lining.block_of[block];
      if (same == Calls::kNoBlock) continue;
      points.push_back({study.value(lining.other), study.calls(lining.other).blocks[same].size});
    }
    std::ranges::sort(points, {}, &SizeAt::at);
  }
  family_ = family_of(seen);
  std::map<std::vector<SizeAt>, SizeSpan> known;
  spans_.resize(seen.size());
  for (std::size_t block = 0; block < seen.size(); ++block) {
    if (seen[block].size() == 1) continue;
    const auto [span, is_new] = known.try_emplace(seen[block]);
    if (is_new) span->second = span_of(seen[block], family_, at);
    spans_[block] = span->second;
    ++alike_[calls.blocks[block].size][span->second];
  }
  for (std::size_t block = 0; block < seen.size(); ++block) {
    if (seen[block].size() > 1) continue;
    const Bytes size = calls.blocks[block].size;
    // What stays from before and has no like is the program's, not its data's.
    const bool stays = calls.blocks[block].call == CallBlock::kBefore;
    spans_[block] = stays ? SizeSpan{size, size, size} : alone(seen[block].front());
  }
  const std::vector<bool> workspaces = workspaces_of(study, structure);
  for (std::size_t block = 0; block < seen.size(); ++block) {
    if (!workspaces[block]) continue;
    has_workspaces_ = true;
    SizeSpan& span = spans_[block];
    span.least = span.most = 1;
    for (const SizeAt& point : seen[block]) {
      const double growth = static_cast<double>(at) / static_cast<double>(point.at);
      span.most =
          std::max(span.most, bytes_of(static_cast<double>(point.size) * std::max(1.0, growth)));
    }
    span.likeliest = std::min(span.likeliest, span.most);
  }
}

/// A block without its like in the other recordings follows those of its size.
SizeSpan SizesAt::alone(const SizeAt& point) const {
  const auto alike = alike_.find(point.size);
  if (alike == alike_.end()) {
    const std::vector<SizeAt> points{point};
    SizeSpan span = span_of(points, family_, at_);
    span.least = std::min(span.least, point.size);
    span.most = std::max(span.most, point.size);
    return span;
  }
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  SizeSpan span = std::ranges::max_element(alike->second, by_count)->first;
  for (const auto& [other, times] : alike->second) {
    span.least = std::min(span.least, other.least);
    span.most = std::max(span.most, other.most);
  }
  return span;
}

std::uint64_t SizesAt::without_law() const {
  return static_cast<std::uint64_t>(std::ranges::count(spans_, true, &SizeSpan::guessed));
}

std::uint64_t SizesAt::open() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(spans_, [](const SizeSpan& s) { return s.least != s.most; }));
}

std::vector<Bytes> SizesAt::of(SizeChoice choice) const {
  std::vector<Bytes> sizes;
  for (const SizeSpan& span : spans_) sizes.push_back(span.of(choice));
  return sizes;
}

/// What is asked for from the begin of a recording on, at its peak.
struct Peak {
  Bytes bytes = 0;
  std::uint64_t event = 0;
};

Peak peak_of(const BlockLives& lives, const Calls& calls, const std::vector<Bytes>& sizes) {
  Bytes live = 0;
  Peak peak;
  for (std::uint64_t event = 0; event < lives.block_of.size(); ++event) {
    const std::uint32_t life = lives.block_of[event];
    if (life == BlockLives::kNone) continue;
    const Bytes size = sizes[calls.block_of_life[life]];
    if (lives.blocks[life].freed == event) live -= size;
    if (lives.blocks[life].born != event) continue;
    live += size;
    if (live > peak.bytes) peak = {live, event};
  }
  return peak;
}

/// The largest block among those that live at the peak and that the parameter decides over; kNone
/// where there is none.
std::uint32_t largest_at_peak(const BlockLives& lives, const Calls& calls,
                              const std::vector<Bytes>& sizes) {
  const std::uint64_t peak = peak_of(lives, calls, sizes).event;
  std::uint32_t largest = BlockLives::kNone;
  for (std::uint32_t life = 0; life < lives.blocks.size(); ++life) {
    const BlockLife& block = lives.blocks[life];
    const Bytes size = sizes[calls.block_of_life[life]];
    if (block.existed_before() || block.born > peak || !block.alive_at(peak)) continue;
    if (size == block.size) continue;
    if (largest == BlockLives::kNone || size > sizes[calls.block_of_life[largest]]) largest = life;
  }
  return largest;
}

/// Where a dimension is one, a tensor is contiguous as it is: a copy more or fewer may live at the
/// peak.
enum class CopiesAtPeak { as_recorded, one_more, one_fewer };

void change_copies(const BlockLives& lives, const Calls& calls, const std::vector<Bytes>& sizes,
                   CopiesAtPeak copies, Rewrite& rewrite) {
  if (copies == CopiesAtPeak::as_recorded) return;
  const std::uint32_t largest = largest_at_peak(lives, calls, sizes);
  if (largest == BlockLives::kNone) return;
  if (copies == CopiesAtPeak::one_fewer) return rewrite.drop(largest);
  const BlockLife& life = lives.blocks[largest];
  const std::uint32_t copy =
      rewrite.add(largest, sizes[calls.block_of_life[largest]], {life.born + 1, 4});
  if (life.freed != BlockLife::kNever) rewrite.free_at(copy, {life.freed, 4});
}

struct Written {
  Rewritten trace;
  std::uint64_t staged_sums = 0;
};

/// Which of the programs that are plausible at that value.
struct Variant {
  SizeChoice sizes = SizeChoice::likeliest;
  CopiesAtPeak copies = CopiesAtPeak::as_recorded;
};

/// The events of one recording with sizes of that value.
Written written_from(const Study& study, std::size_t structure, const std::vector<Lining>& linings,
                     const SizesAt& at_value, std::int64_t at, const Variant& variant = {}) {
  const Calls& calls = study.calls(structure);
  const BlockLives& lives = study.lives(structure);
  std::vector<Bytes> sizes = at_value.of(variant.sizes);
  std::vector<PairedCalls> others;
  for (const Lining& lining : linings) {
    others.push_back({&study.calls(lining.other), lining.block_of});
  }
  const double growth = std::pow(
      static_cast<double>(at) / static_cast<double>(study.value(structure)), at_value.degree());
  const Restaging staging = restage(calls, others, growth, sizes);

  Rewrite rewrite(study.subject(structure).trace(), lives);
  std::vector<bool> dropped(calls.blocks.size());
  for (const std::uint32_t call : staging.dropped) {
    dropped[calls.calls[call].block] = dropped[calls.calls[call + 1].block] = true;
  }
  std::vector<std::uint32_t> last_life(calls.blocks.size());
  for (std::uint32_t life = 0; life < lives.blocks.size(); ++life) {
    const std::uint32_t block = calls.block_of_life[life];
    last_life[block] = life;
    if (dropped[block]) rewrite.drop(life);
    rewrite.resize(life, sizes[block]);
  }
  for (const auto& [call, sum] : staging.added) {
    const std::uint32_t like = last_life[calls.calls[call].block];
    const std::uint64_t behind = calls.event_of[call] + 1;
    const std::uint32_t partial = rewrite.add(like, sum.partial_sums, {behind, 0});
    const std::uint32_t semaphores = rewrite.add(like, sum.semaphores, {behind, 1});
    rewrite.free_at(semaphores, {behind, 2});
    rewrite.free_at(partial, {behind, 3});
  }
  change_copies(lives, calls, sizes, variant.copies, rewrite);
  return {rewrite.write(), staging.added.size() + staging.dropped.size()};
}

PredictionFacts facts_of(const Study& study, std::size_t structure,
                         const std::vector<Lining>& linings, const ParameterAt& at) {
  PredictionFacts facts{.name = at.name, .value = at.value, .structure = structure};
  const auto requests = [](const Calls& calls) {
    return static_cast<std::uint64_t>(std::ranges::count(calls.calls, false, &AlignedCall::frees));
  };
  for (std::size_t i = 0; i < study.size(); ++i) {
    facts.sources.push_back({.path = study.subject(i).recording().path,
                             .value = study.value(i),
                             .requests = requests(study.calls(i))});
  }
  facts.sources[structure].paired = facts.sources[structure].requests;
  const Calls& calls = study.calls(structure);
  const Places places(study.subject(structure).recording());
  for (const Lining& lining : linings) {
    PredictionSource& source = facts.sources[lining.other];
    for (const AlignedCall& call : calls.calls) {
      if (call.frees) continue;
      if (lining.block_of[call.block] != Calls::kNoBlock) {
        ++source.paired;
      } else {
        source.unpaired_bytes += calls.blocks[call.block].size;
      }
    }
    if (!lining.parts_at) continue;
    const auto [here, there] = *lining.parts_at;
    const Trace& trace = study.subject(structure).trace();
    const std::uint64_t event = study.event_of(structure, here);
    source.parts_at = {event, study.event_of(lining.other, there)};
    if (event >= trace.size() || !says_who_asked(trace)) continue;
    const Asker asker = asker_of(trace, event);
    if (asker.known()) source.place = places.name_of(asker);
  }
  return facts;
}

/// Where the number of requests grows with the parameter, the program's course lies as much further
/// than that of the other recording, seen from that of the structure; 0 where it does not.
double reach_of(const PredictionFacts& facts, std::size_t other) {
  const PredictionSource& here = facts.sources[facts.structure];
  const PredictionSource& there = facts.sources[other];
  const auto difference = [](auto a, auto b) {
    return static_cast<double>(a) - static_cast<double>(b);
  };
  const double more = difference(there.requests, here.requests);
  const double further = difference(there.value, here.value);
  const bool grows = (more > 0) == (further > 0) &&
                     std::abs(more) >= kLeastGrowth * static_cast<double>(here.requests);
  return grows ? difference(facts.value, here.value) / further : 0;
}

// By so much recorded residual networks are off whose peaks hold such a workspace: another than
// those seen may be there, and each decides over what the next one finds free.
constexpr double kWorkspaceRequestedOpen = 0.02;
constexpr double kWorkspaceReservedOpen = 0.08;

void open_workspaces(const Study& study, std::size_t structure, const SizesAt& sizes,
                     MadeRecordings& made) {
  const auto peak = [&](SizeChoice choice) {
    return peak_of(study.lives(structure), study.calls(structure), sizes.of(choice)).bytes;
  };
  if (!sizes.has_workspaces() || peak(SizeChoice::least) == peak(SizeChoice::most)) return;
  made.requested_open = kWorkspaceRequestedOpen;
  made.reserved_open = std::max(made.reserved_open, kWorkspaceReservedOpen);
}

std::string why_inexact(const PredictionFacts& facts) {
  const PredictionSource& structure = facts.sources[facts.structure];
  std::string why = fmt::format("its requests are predicted: {} was never {} in a recording",
                                facts.name, facts.value);
  if (facts.parts()) {
    why += fmt::format(", and its order is that of {} = {}", facts.name, structure.value);
  }
  return why;
}

}  // namespace

MadeRecordings predicted(std::span<const Varied> varied, const ParameterAt& at) {
  const Study study(varied);
  const std::size_t structure = nearest_to(varied, at.value);
  const std::vector<Lining> linings = study.line_up_with(structure);
  for (const Lining& lining : linings) study.refuse_strangers(structure, lining);
  PredictionFacts facts = facts_of(study, structure, linings, at);
  const std::string why = why_inexact(facts);
  const SizesAt sizes(study, structure, linings, at.value);
  Written likeliest = written_from(study, structure, linings, sizes, at.value);
  facts.without_law = sizes.without_law();
  facts.open_sizes = sizes.open();
  facts.staged_sums = likeliest.staged_sums;
  std::vector<std::span<const StartTried>> tried;
  for (const Varied& one : varied) tried.push_back(one.starts_tried);
  SettledRecordings settled_ones =
      settled(study.subject(structure), std::move(likeliest.trace), why, tried);
  MadeRecordings made;
  made.reserved_open = settled_ones.reserved_open;
  made.likeliest = std::move(settled_ones.made.front());
  made.others.assign(std::make_move_iterator(settled_ones.made.begin() + 1),
                     std::make_move_iterator(settled_ones.made.end()));
  const auto add = [&](std::size_t i, Written written, double reach = 0) {
    made.others.push_back(
        settled(study.subject(i), std::move(written.trace), why, tried).made.front());
    made.others.back().reach = reach;
  };
  const auto add_variant = [&](const Variant& variant) {
    add(structure, written_from(study, structure, linings, sizes, at.value, variant));
  };
  open_workspaces(study, structure, sizes, made);
  if (sizes.open() > 0) {
    for (const SizeChoice choice : {SizeChoice::least, SizeChoice::most}) {
      add_variant({.sizes = choice});
    }
  }
  for (const Lining& lining : linings) {
    if (!lining.parts_at) continue;
    const std::vector<Lining> to_other = study.line_up_with(lining.other);
    const SizesAt other_sizes(study, lining.other, to_other, at.value);
    add(lining.other, written_from(study, lining.other, to_other, other_sizes, at.value),
        reach_of(facts, lining.other));
  }
  if (at.value == 1 && varied.front().value > 1) {
    add_variant({.copies = CopiesAtPeak::one_more});
    add_variant({.copies = CopiesAtPeak::one_fewer});
  }
  made.predicted = std::move(facts);
  return made;
}

}  // namespace memreplay
