#include "extensions/what_if/vary/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/what_if/vary/calls.hpp"
#include "program/places.hpp"

namespace memreplay {
namespace {

constexpr Bytes kLeastWeight = 8192;           ///< that may be told by its size
constexpr std::size_t kBlocksAWeight = 8;      ///< that have its size
constexpr double kLeastShareCast = 0.02;       ///< casts of weights, as a share of all requests
constexpr double kLeastShareOfOneSize = 0.08;  ///< where all weights are of one size
constexpr double kMostShareByChance = 0.005;
// So many of a hundred requests of the smaller program have one like them in the larger: at least
// half of those from lines of Python; of all of them every one where a parameter alone differs, and
// 86 to 96 where one is a training with autocast and the other is without.
constexpr std::size_t kLeastOfLines = 50;
constexpr std::size_t kLeastOfRequests = 97;
constexpr std::size_t kFewest = 8;          ///< requests that show another program
constexpr std::size_t kShareElsewhere = 8;  ///< one in so many

std::vector<AlignItem> items_of(const Calls& calls) {
  std::vector<AlignItem> items;
  items.reserve(calls.calls.size());
  for (const AlignedCall& call : calls.calls) {
    const CallBlock& block = calls.blocks[call.block];
    items.push_back({2 * block.asker + (call.frees ? 1 : 0), call.block, block.size,
                     !call.frees && block.python});
  }
  return items;
}

/// Requests of half the size of weights.
class CastsOfWeights {
 public:
  CastsOfWeights(const Calls& calls, const std::multiset<Bytes>& half_weights)
      : weights_(half_weights.size()) {
    for (const CallBlock& block : calls.blocks) {
      if (block.call == CallBlock::kBefore) continue;
      ++all_;
      if (!half_weights.contains(block.size)) continue;
      ++requests_;
      first_ = std::min(first_, block.call);
      sizes_.insert(block.size);
    }
  }

  std::size_t requests() const { return requests_; }
  std::uint32_t first() const { return first_; }
  /// A share of all requests is of that kind and of several sizes, and hardly any of the other's:
  /// some have such a size by chance. Each weight has a gradient and what an optimizer keeps.
  bool shows_autocast_beside(const CastsOfWeights& other) const {
    const bool alike = sizes_.size() < 2;
    if (requests_ < other.requests_ + kFewest) return false;
    if (alike && (share() < kLeastShareOfOneSize || other.requests_ > 0)) return false;
    const std::size_t more = requests_ - other.requests_;
    return kBlocksAWeight * more >= weights_ && all_ >= other.all_ + more / 2 &&
           share() >= kLeastShareCast && other.share() <= kMostShareByChance;
  }

 private:
  double share() const {
    return all_ == 0 ? 0 : static_cast<double>(requests_) / static_cast<double>(all_);
  }

  std::size_t weights_;
  std::size_t all_ = 0;
  std::size_t requests_ = 0;
  std::uint32_t first_ = CallBlock::kBefore;
  std::set<Bytes> sizes_;
};

/// Blocks from before a recording that it never frees, in the order of their addresses.
std::vector<std::uint32_t> kept_blocks(const Calls& calls) {
  std::vector<bool> freed(calls.blocks.size());
  for (const AlignedCall& call : calls.calls) {
    if (call.frees) freed[call.block] = true;
  }
  std::vector<std::uint32_t> kept;
  for (std::uint32_t block = 0; block < calls.blocks.size(); ++block) {
    if (calls.blocks[block].call == CallBlock::kBefore && !freed[block]) kept.push_back(block);
  }
  return kept;
}

// Only their order and their sizes tell kept blocks: pairs them by address or by size, whichever is
// better; by address where both are as good.
void pair_kept_blocks(const Calls& first, const Calls& second, const ParameterValues& values,
                      std::vector<std::uint32_t>& block_of) {
  std::vector<std::uint32_t> here = kept_blocks(first);
  std::vector<std::uint32_t> there = kept_blocks(second);
  const auto score = [&] {
    int sum = 0;
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
      sum += pairing_score(first.blocks[here[i]].size, second.blocks[there[i]].size, values);
    }
    return sum;
  };
  const auto pair = [&] {
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
      block_of[here[i]] = there[i];
    }
  };
  const int by_address = here.size() == there.size() ? score() : std::numeric_limits<int>::min();
  pair();
  std::ranges::stable_sort(here, {}, [&](auto block) { return first.blocks[block].size; });
  std::ranges::stable_sort(there, {}, [&](auto block) { return second.blocks[block].size; });
  if (score() > by_address) pair();
}

Lining line_up(const Calls& first, const Calls& second, const ParameterValues& values) {
  Lining lining{.block_of = std::vector<std::uint32_t>(first.blocks.size(), Calls::kNoBlock)};
  const std::vector<AlignItem> a = items_of(first);
  const std::vector<AlignItem> b = items_of(second);
  std::uint32_t next = 0;
  for (const auto& [i, j] : align(a, b, values)) {
    if (i == next && j == next) ++next;
    const bool were_before = first.blocks[a[i].block].call == CallBlock::kBefore &&
                             second.blocks[b[j].block].call == CallBlock::kBefore;
    if (!first.calls[i].frees || were_before) lining.block_of[a[i].block] = b[j].block;
  }
  pair_kept_blocks(first, second, values, lining.block_of);
  if (next != a.size() || next != b.size()) lining.parts_at = {next, next};
  return lining;
}

}  // namespace

Study::Study(std::span<const Varied> varied) : varied_(varied) {
  for (const Varied& one : varied) lives_.push_back(lives_of(one.subject->trace()));
  write_down_calls(true);
  if (!have_askers_in_common()) write_down_calls(false);
}

std::uint64_t Study::event_of(std::size_t i, std::uint32_t call) const {
  const std::vector<std::uint64_t>& events = calls_[i].event_of;
  return call < events.size() ? events[call] : subject(i).trace().size();
}

std::vector<Lining> Study::line_up_with(std::size_t structure) const {
  std::vector<Lining> linings;
  for (std::size_t i = 0; i < size(); ++i) {
    if (i == structure) continue;
    linings.push_back(line_up(calls_[structure], calls_[i], {value(structure), value(i)}));
    linings.back().other = i;
  }
  return linings;
}

// Lines of Python tell programs apart; without any, all that there is.
void Study::refuse_strangers(std::size_t structure, const Lining& lining) const {
  refuse_unlike(structure, lining, Likeness::of_lines);
  refuse_parts_of_a_program(structure, lining);
  refuse_unlike(structure, lining, Likeness::of_requests);
}

void Study::refuse_unlike(std::size_t structure, const Lining& lining, Likeness kind) const {
  const Calls& calls = calls_[structure];
  const Calls& other = calls_[lining.other];
  const auto requests = [](const Calls& of, bool told) {
    return static_cast<std::size_t>(std::ranges::count_if(of.blocks, [&](const CallBlock& block) {
      return block.call != CallBlock::kBefore && (block.python || !told);
    }));
  };
  const auto pairs = [&](bool told) {
    std::size_t count = 0;
    for (std::size_t block = 0; block < calls.blocks.size(); ++block) {
      const bool counts = calls.blocks[block].python || !told;
      if (counts && lining.block_of[block] != Calls::kNoBlock) ++count;
    }
    return count;
  };
  const bool told =
      kind == Likeness::of_lines && requests(calls, true) > 0 && requests(other, true) > 0;
  const std::size_t paired = pairs(told);
  const std::size_t all = std::min(requests(calls, told), requests(other, told));
  const std::size_t least = kind == Likeness::of_lines ? kLeastOfLines : kLeastOfRequests;
  if (100 * paired >= least * all) return;
  const auto [here, there] = lining.parts_at.value_or(std::pair(0U, 0U));
  const auto event = [&](std::size_t i, std::uint32_t call) {
    return human_count(event_of(i, call));
  };
  throw UsageError(fmt::format(
      "{} and {} are not of one program: {} of {} requests correspond, and they diverge at event "
      "{} of the first and {} of the second",
      subject(structure).recording().path, subject(lining.other).recording().path,
      human_count(paired), human_count(all), event(structure, here), event(lining.other, there)));
}

// Gradients beside none, or autocast beside none: most requests of the smaller program correspond.
void Study::refuse_parts_of_a_program(std::size_t structure, const Lining& lining) const {
  const Calls& calls = calls_[structure];
  const Calls& other = calls_[lining.other];
  std::vector<bool> has_like(calls.blocks.size());
  std::vector<bool> is_like(other.blocks.size());
  std::multiset<Bytes> casts;  // weights' casts, to half their size
  for (std::size_t block = 0; block < calls.blocks.size(); ++block) {
    const std::uint32_t same = lining.block_of[block];
    if (same == Calls::kNoBlock) continue;
    has_like[block] = is_like[same] = true;
    const Bytes size = calls.blocks[block].size;
    if (size == other.blocks[same].size && size >= kLeastWeight) casts.insert(size / 2);
  }
  refuse_if_more({structure, has_like}, {lining.other, is_like}, casts);
  refuse_if_more({lining.other, is_like}, {structure, has_like}, casts);
}

void Study::refuse_if_more(const Side& side, const Side& beside,
                           const std::multiset<Bytes>& casts) const {
  const Calls& here = calls(side.of);
  const Calls& there = calls(beside.of);
  std::set<std::uint32_t> askers;
  for (const CallBlock& block : there.blocks) askers.insert(block.asker);
  std::size_t all = 0;
  std::vector<std::uint32_t> elsewhere;  // calls
  for (std::size_t block = 0; block < here.blocks.size(); ++block) {
    const CallBlock& asked = here.blocks[block];
    if (asked.call == CallBlock::kBefore) continue;
    ++all;
    if (!side.has_like[block] && !askers.contains(asked.asker)) elsewhere.push_back(asked.call);
  }
  const auto refuse = [&](const std::string& what, std::uint32_t first) {
    const std::uint64_t event = event_of(side.of, first);
    const Subject& recorded = subject(side.of);
    const std::string place =
        Places(recorded.recording()).name_of(asker_of(recorded.trace(), event));
    throw UsageError(
        fmt::format("{} and {} are not of one program: {} of the first, the first of "
                    "them at event {} ({})",
                    recorded.recording().path, subject(beside.of).recording().path, what,
                    human_count(event), place));
  };
  if (kShareElsewhere * elsewhere.size() >= all && elsewhere.size() >= kFewest) {
    refuse(fmt::format("the second makes none of {} requests", human_count(elsewhere.size())),
           std::ranges::min(elsewhere));
  }
  const CastsOfWeights cast(here, casts);
  const CastsOfWeights beside_cast(there, casts);
  if (cast.shows_autocast_beside(beside_cast)) {
    refuse(fmt::format("autocast casts weights ({} requests of half their size, {} in the second)",
                       human_count(cast.requests()), human_count(beside_cast.requests())),
           cast.first());
  }
}

void Study::write_down_calls(bool by_line) {
  CommonAskers askers(by_line);
  calls_.clear();
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    calls_.push_back(calls_of(subject(i).recording(), subject(i).trace(), lives_[i], askers));
  }
}

// Nine of ten requests of each other one come from where the first one's come from.
bool Study::have_askers_in_common() const {
  std::set<std::uint32_t> askers;
  for (const CallBlock& block : calls_.front().blocks) askers.insert(block.asker);
  return std::ranges::all_of(calls_, [&](const Calls& calls) {
    const auto known = std::ranges::count_if(
        calls.blocks, [&](const CallBlock& block) { return askers.contains(block.asker); });
    return 10 * static_cast<std::size_t>(known) >= 9 * calls.blocks.size();
  });
}

}  // namespace memreplay
