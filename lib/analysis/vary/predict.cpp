#include "analysis/vary/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/recorded/places.hpp"
#include "analysis/vary/restage.hpp"
#include "analysis/vary/size_law.hpp"
#include "analysis/vary/study.hpp"

namespace memreplay {
namespace {

/// The recording whose value is nearest in proportion; of equals the larger.
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

struct Sizes {
  std::vector<Bytes> of;  ///< by block of the structure
  int degree = 1;
  std::uint64_t without_law = 0;
};

Sizes sizes_at(const Study& study, std::size_t structure, const std::vector<Lining>& linings,
               std::int64_t at) {
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
  const LawFamily family = family_of(seen);
  Sizes sizes{.of = {}, .degree = family.degree};
  for (std::size_t block = 0; block < seen.size(); ++block) {
    // What stays from before and has no like is the program's, not its data's.
    if (calls.blocks[block].call == CallBlock::kBefore && seen[block].size() == 1) {
      sizes.of.push_back(calls.blocks[block].size);
      continue;
    }
    const SizeLaw law = law_through(seen[block], family);
    if (law.kind == SizeLaw::Kind::guess) ++sizes.without_law;
    sizes.of.push_back(law.at(at));
  }
  return sizes;
}

/// The largest block among those that live at the peak and that the parameter decides over; kNone
/// where there is none.
std::uint32_t largest_at_peak(const BlockLives& lives, const Calls& calls,
                              const std::vector<Bytes>& sizes) {
  Bytes live = 0;
  Bytes most = 0;
  std::uint64_t peak = 0;
  for (std::uint64_t event = 0; event < lives.block_of.size(); ++event) {
    const std::uint32_t life = lives.block_of[event];
    if (life == BlockLives::kNone) continue;
    const Bytes size = sizes[calls.block_of_life[life]];
    if (lives.blocks[life].freed == event) live -= size;
    if (lives.blocks[life].born != event) continue;
    live += size;
    if (live <= most) continue;
    most = live;
    peak = event;
  }
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
  std::uint64_t without_law = 0;
  std::uint64_t staged_sums = 0;
};

/// The events of one recording with sizes of that value.
Written written_from(const Study& study, std::size_t structure, const std::vector<Lining>& linings,
                     std::int64_t at, CopiesAtPeak copies = CopiesAtPeak::as_recorded) {
  const Calls& calls = study.calls(structure);
  const BlockLives& lives = study.lives(structure);
  Sizes sizes = sizes_at(study, structure, linings, at);
  std::vector<PairedCalls> others;
  for (const Lining& lining : linings) {
    others.push_back({&study.calls(lining.other), lining.block_of});
  }
  const double growth =
      std::pow(static_cast<double>(at) / static_cast<double>(study.value(structure)), sizes.degree);
  const Restaging staging = restage(calls, others, growth, sizes.of);

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
    rewrite.resize(life, sizes.of[block]);
  }
  for (const auto& [call, sum] : staging.added) {
    const std::uint32_t like = last_life[calls.calls[call].block];
    const std::uint64_t behind = calls.event_of[call] + 1;
    const std::uint32_t partial = rewrite.add(like, sum.partial_sums, {behind, 0});
    const std::uint32_t semaphores = rewrite.add(like, sum.semaphores, {behind, 1});
    rewrite.free_at(semaphores, {behind, 2});
    rewrite.free_at(partial, {behind, 3});
  }
  change_copies(lives, calls, sizes.of, copies, rewrite);
  return {rewrite.write(), sizes.without_law, staging.added.size() + staging.dropped.size()};
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

std::string why_inexact(const PredictionFacts& facts) {
  const PredictionSource& structure = facts.sources[facts.structure];
  std::string why = fmt::format("the requests are predicted: {} was never {} in a recording",
                                facts.name, facts.value);
  if (facts.parts()) {
    why += fmt::format(", and its course is that of {} = {}", facts.name, structure.value);
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
  Written likeliest = written_from(study, structure, linings, at.value);
  facts.without_law = likeliest.without_law;
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
  const auto add = [&](std::size_t i, Written written) {
    made.others.push_back(
        settled(study.subject(i), std::move(written.trace), why, tried).made.front());
  };
  for (const Lining& lining : linings) {
    if (!lining.parts_at) continue;
    add(lining.other,
        written_from(study, lining.other, study.line_up_with(lining.other), at.value));
  }
  if (at.value == 1 && varied.front().value > 1) {
    for (const CopiesAtPeak copies : {CopiesAtPeak::one_more, CopiesAtPeak::one_fewer}) {
      add(structure, written_from(study, structure, linings, at.value, copies));
    }
  }
  made.predicted = std::move(facts);
  return made;
}

}  // namespace memreplay
