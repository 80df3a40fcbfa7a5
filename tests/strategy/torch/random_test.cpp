#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "strategy/torch/duel.hpp"
#include "strategy/torch/random_program.hpp"

namespace memreplay {
namespace {

/// Plain pools, in turn of MemPools and of graphs.
const std::vector<PoolOptions> kPlainPools = {
    {}, {}, {.of_a_graph = true}, {}, {.of_a_graph = true}};

/// A setting, and a program for it.
struct Play {
  std::string name;
  std::string conf;
  std::vector<std::string> releases;
  std::vector<std::string> must_meet;  ///< rules and statistics that the test is for
  Bytes capacity = 1200 * kMiB;        ///< 0: endless
  Habits habits = {};
  std::vector<PoolOptions> pool_options = kPlainPools;
  std::optional<std::string> warm_conf = {};  ///< it takes over what a program left under this
  Bytes request_padding = 0;
  Bytes large_alignment = 0;

  friend void PrintTo(const Play& play, std::ostream* out) { *out << play.name; }
};

const std::vector<std::string> kAll = {"2.6", "2.11", "2.12", "2.15"};
const std::vector<std::string> kSince211 = {"2.11", "2.12", "2.15"};

std::vector<Play> plays() {
  return {
      {.name = "Defaults",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_alloc_retries", "num_ooms", "num_device_free"}},
      {.name = "DefaultsEndless",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_device_free"},
       .capacity = 0,
       .habits = {.streams = 2, .pools = 3, .pending_percent = 10, .empty_cache_per_mille = 2}},
      {.name = "ManyEqualBlocks",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_device_free"},
       .capacity = 8000 * kMiB,
       .habits = {.empty_cache_per_mille = 1,
                  .most_blocks = 1500,
                  .sizes = {512, 8 * kKiB, 128 * kKiB}}},
      {.name = "ManyEqualSegments",
       .conf = "max_split_size_mb:24",
       .releases = kAll,
       .must_meet = {"equal blocks", "several blocks made room", "num_device_free"},
       .capacity = 8000 * kMiB,
       .habits = {.empty_cache_per_mille = 3,
                  .most_blocks = 500,
                  .sizes = {kMiB, 24 * kMiB, 24 * kMiB, 24 * kMiB, 60 * kMiB}}},
      {.name = "ManyEqualExpandableBlocks",
       .conf = "expandable_segments:True",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_device_free", "tail spared"},
       .capacity = 8000 * kMiB,
       .habits = {.empty_cache_per_mille = 1,
                  .most_blocks = 500,
                  .sizes = {kMiB, 3 * kMiB, 20 * kMiB}}},
      {.name = "DefaultsEverything",
       .releases = kAll,
       .must_meet = {"completed by waiting", "no retry in a private pool", "num_ooms",
                     "private pool released"},
       .habits = {.streams = 3,
                  .pools = kPools,
                  .pending_percent = 30,
                  .empty_cache_per_mille = 3,
                  .releases_pools = true}},
      {.name = "PoolsThatLend",
       .releases = {"2.10", "2.11", "2.12", "2.15"},
       .must_meet = {"lent by a private pool", "num_alloc_retries", "private pool released"},
       .habits = {.pools = kPools, .pending_percent = 5, .releases_pools = true},
       .pool_options = {{},
                        {.use_on_oom = true},
                        {.of_a_graph = true},
                        {.use_on_oom = true},
                        {.use_on_oom = true}}},
      {.name = "PoolsThatLendMaxSplit",
       .conf = "max_split_size_mb:64",
       .releases = kSince211,
       .must_meet = {"lent by a private pool", "one block made room"},
       .habits = {.streams = 2, .pools = 4},
       .pool_options = {{}, {.use_on_oom = true}, {.of_a_graph = true}, {.no_split = true}, {}}},
      {.name = "PoolsWithoutSplits",
       .releases = kSince211,
       .must_meet = {"not split for its pool", "lent by a private pool", "num_alloc_retries"},
       .capacity = 3000 * kMiB,
       .habits = {.pools = 4},
       .pool_options = {{}, {.use_on_oom = true, .no_split = true}, {}, {.no_split = true}, {}}},
      {.name = "MaxSplit32",
       .conf = "max_split_size_mb:32",
       .releases = kAll,
       .must_meet = {"block above the split limit", "block too large to stay whole",
                     "one block made room", "several blocks made room"}},
      {.name = "MaxSplit128",
       .conf = "max_split_size_mb:128",
       .releases = kAll,
       .must_meet = {"block above the split limit", "block too large to stay whole",
                     "one block made room"},
       .capacity = 2000 * kMiB,
       .habits = {.streams = 2, .pending_percent = 10}},
      {.name = "MaxSplitRounding",
       .conf = "max_split_size_mb:24,max_non_split_rounding_mb:96",
       .releases = kAll,
       .must_meet = {"block too large to stay whole", "several blocks made room"},
       .habits = {.streams = 2, .pools = 3}},
      {.name = "Roundup4",
       .conf = "roundup_power2_divisions:4",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_alloc_retries"}},
      {.name = "RoundupList",
       .conf = "roundup_power2_divisions:[1:2,4:8,16:4,32:1,128:2,>:1]",
       .releases = kAll,
       .must_meet = {"equal blocks", "num_alloc_retries"},
       .habits = {.pending_percent = 10}},
      {.name = "LargeSegment64",
       .conf = "large_segment_size_mb:64",
       .releases = kSince211,
       .must_meet = {"equal blocks", "num_alloc_retries"},
       .habits = {.streams = 2, .empty_cache_per_mille = 2}},
      {.name = "LargeSegment25MaxSplit",
       .conf = "large_segment_size_mb:25,max_split_size_mb:30",
       .releases = kSince211,
       .must_meet = {"one block made room", "several blocks made room"},
       .capacity = 1201 * kMiB},
      {.name = "Expandable",
       .conf = "expandable_segments:True",
       .releases = kAll,
       .must_meet = {"tail spared", "head left mapped", "tail left mapped", "num_alloc_retries",
                     "num_ooms"}},
      {.name = "ExpandableEverything",
       .conf = "expandable_segments:True",
       .releases = kAll,
       .must_meet = {"tail spared", "completed by waiting", "no retry in a private pool",
                     "reservation given back", "private pool released"},
       .habits = {.streams = 2,
                  .pools = 4,
                  .pending_percent = 20,
                  .empty_cache_per_mille = 3,
                  .releases_pools = true},
       .pool_options = {{}, {.use_on_oom = true}, {}, {}, {}}},
      {.name = "ExpandableMaxSplit",
       .conf = "expandable_segments:True,max_split_size_mb:32",
       .releases = kAll,
       .must_meet = {"block above the split limit", "block too large to stay whole",
                     "num_alloc_retries"}},
      {.name = "ExpandableReserve",
       .conf = "expandable_segments:True,expandable_segments_reserve:0.08",
       .releases = {"2.15"},
       .must_meet = {"another reservation", "reservation too small", "reservation given back",
                     "tail spared"},
       .habits = {.streams = 2, .pending_percent = 10, .empty_cache_per_mille = 2}},
      {.name = "ExpandableReserveLargeSegment",
       .conf = "expandable_segments:True,expandable_segments_reserve:0.3G,"
               "large_segment_size_mb:33",
       .releases = {"2.15"},
       .must_meet = {"another reservation", "reservation given back", "tail spared"},
       .habits = {.pools = 2}},
      {.name = "ExpandableLargeSegment11",
       .conf = "expandable_segments:True,large_segment_size_mb:11",
       .releases = kSince211,
       .must_meet = {"tail spared", "head left mapped", "mapped in part", "mapped in pieces"},
       .capacity = 3999 * kMiB,
       .habits = {.empty_cache_per_mille = 10, .smallest_log2 = 20}},
      {.name = "ExpandableAligned",
       .conf = "expandable_segments:True",
       .releases = {"2.6", "2.11"},
       .must_meet = {"aligned", "no room to align", "tail spared", "num_alloc_retries"},
       .habits = {.streams = 2, .pending_percent = 10, .empty_cache_per_mille = 2},
       .request_padding = 32,
       .large_alignment = 16 * kKiB},
      {.name = "ExpandableAlignedToOddPages",
       .conf = "expandable_segments:True",
       .releases = {"2.6", "2.11"},
       .must_meet = {"aligned", "no room to align", "tail spared"},
       .large_alignment = 12 * kKiB},
      {.name = "CollectWithoutFraction",
       .conf = "garbage_collection_threshold:0.6,per_process_memory_fraction:1",
       .releases = {"2.6", "2.15"},  // the limit that it sets in the first is none in the second
       .must_meet = {"garbage collected", "limit reached"}},
      {.name = "Collect06",
       .conf = "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9",
       .releases = kAll,
       .must_meet = {"garbage collected", "garbage collected in a later round", "limit reached"}},
      {.name = "Collect08",
       .conf = "garbage_collection_threshold:0.8,per_process_memory_fraction:0.5",
       .releases = kAll,
       .must_meet = {"garbage collected", "garbage collected in a later round", "limit reached"},
       .capacity = 3000 * kMiB,
       .habits = {.streams = 2, .pools = 3, .pending_percent = 10, .empty_cache_per_mille = 1}},
      {.name = "CollectMaxSplit",
       .conf = "garbage_collection_threshold:0.7,per_process_memory_fraction:0.8,"
               "max_split_size_mb:32",
       .releases = kAll,
       .must_meet = {"garbage collected", "block above the split limit"}},
      {.name = "CollectExpandable",
       .conf = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.7,"
               "expandable_segments:True,expandable_segments_reserve:0.1",
       .releases = {"2.15"},
       .must_meet = {"limit reached", "another reservation", "tail spared"}},
      {.name = "Fraction05",
       .conf = "per_process_memory_fraction:0.5",
       .releases = kAll,
       .must_meet = {"limit reached", "num_alloc_retries", "num_ooms"},
       .capacity = 2500 * kMiB},
      {.name = "Fraction05Expandable",
       .conf = "per_process_memory_fraction:0.5,expandable_segments:True",
       .releases = kSince211,
       .must_meet = {"limit reached", "num_alloc_retries", "num_ooms"},
       .capacity = 2500 * kMiB,
       .habits = {.streams = 2, .pending_percent = 10}},
      {.name = "Throw",
       .conf = "throw_on_cudamalloc_oom:True",
       .releases = {"2.12", "2.15"},
       .must_meet = {"num_oom_rejections"},
       .habits = {.empty_cache_per_mille = 5}},
      {.name = "ThrowExpandable",
       .conf = "throw_on_cudamalloc_oom:True,expandable_segments:True",
       .releases = {"2.12", "2.15"},
       .must_meet = {"num_oom_rejections"},
       .habits = {.pending_percent = 10, .empty_cache_per_mille = 5}},
      {.name = "WarmMaxSplit",
       .conf = "max_split_size_mb:128",
       .releases = kAll,
       .must_meet = {"one block made room", "num_alloc_retries"},
       .habits = {.streams = 2, .pools = 3},
       .warm_conf = ""},
      {.name = "WarmCollect",
       .conf = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.95",
       .releases = kAll,
       .must_meet = {"garbage collected"},
       .warm_conf = "roundup_power2_divisions:2"},
      {.name = "WarmExpandable",
       .conf = "expandable_segments:True",
       .releases = kAll,
       .must_meet = {"num_alloc_retries", "plain block for an expandable request"},
       .habits = {.streams = 2, .pools = 2},
       .warm_conf = ""},
      {.name = "WarmExpandableMaxSplit",
       .conf = "expandable_segments:True,max_split_size_mb:24",
       .releases = kSince211,
       .must_meet = {"num_alloc_retries", "plain block for an expandable request"},
       .warm_conf = ""},
      {.name = "WarmExpandableCollect",
       .conf = "expandable_segments:True,garbage_collection_threshold:0.5,"
               "per_process_memory_fraction:0.9",
       .releases = kSince211,
       .must_meet = {"garbage collected", "plain block for an expandable request"},
       .warm_conf = ""},
      {.name = "WarmExpandableReserveCollect",
       .conf = "expandable_segments:True,expandable_segments_reserve:0.05,"
               "garbage_collection_threshold:0.3,per_process_memory_fraction:0.9",
       .releases = {"2.15"},
       .must_meet = {"garbage collected", "another reservation",
                     "whole reservation in the average"},
       .capacity = 2000 * kMiB,
       .warm_conf = ""},
      {.name = "WarmExpandableBefore",
       .conf = "expandable_segments:True",
       .releases = kAll,
       .must_meet = {"num_alloc_retries", "reservation given back"},
       .habits = {.streams = 2, .pools = 2, .empty_cache_per_mille = 1},
       .warm_conf = "expandable_segments:True"},
      {.name = "WarmNoLongerExpandable",
       .releases = kAll,
       .must_meet = {"num_alloc_retries", "expandable blocks passed over"},
       .warm_conf = "expandable_segments:True"},
  };
}

std::uint64_t operations() {
  const char* asked = std::getenv("MEMREPLAY_RANDOM_OPERATIONS");
  return asked ? std::strtoull(asked, nullptr, 10) : 40000;
}

/// What a program left behind, far from the addresses that a device gives.
MemoryState left_behind(const Play& play, const Circumstances& circumstances, std::uint64_t seed) {
  constexpr Address kFarAway = Address{1} << 46;
  torch::SettingIssues issues;
  const torch::Release release = torch::parse_release(circumstances.release);
  reference::Allocator allocator({.settings = torch::read_conf(*play.warm_conf, release, issues),
                                  .release = release,
                                  .capacity = circumstances.capacity,
                                  .pools = std::vector<PoolId>(kPools),
                                  .pool_options = play.pool_options});
  RandomProgram program(play.habits, seed);
  std::map<std::uint32_t, reference::Life> lives;
  for (int i = 0; i < 1000; ++i) {
    const Step step = program.next();
    if (step.kind == Step::Kind::free) allocator.free(lives.at(step.block));
    if (step.kind != Step::Kind::allocate) continue;
    const auto placed = allocator.allocate(step.size, step.stream, step.pool);
    placed ? program.granted() : program.refused();
    if (placed) lives[step.block] = placed->life;
  }
  MemoryState state = allocator.memory_state();
  for (SegmentInfo& segment : state.segments) {
    segment.address += kFarAway;
    for (BlockInfo& block : segment.blocks) block.address += kFarAway;
  }
  return state;
}

std::uint32_t used_blocks(const MemoryState& state) {
  std::uint32_t count = 0;
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) count += block.state != BlockState::free;
  }
  return count;
}

using Counts = std::map<std::string, std::uint64_t>;

void add_counts(const reference::Allocator& allocator, Counts& counts) {
  for (const auto& [rule, times] : allocator.met()) counts[std::string(rule)] += times;
  for (const auto& [key, value] : allocator.memory_stats()) {
    if (key.starts_with("num_")) counts[key] += static_cast<std::uint64_t>(value);
  }
}

/// One run of a program, from an empty device.
void play_episode(const Play& play, const Circumstances& circumstances, std::uint64_t seed,
                  std::uint64_t length, Counts& counts) {
  Duel duel(circumstances);
  RandomProgram program(play.habits, seed, used_blocks(circumstances.start));
  std::vector<Step> steps;
  for (std::uint64_t i = 1; i <= length; ++i) {
    const Step& step = steps.emplace_back(program.next());
    std::string difference = duel.play(step);
    if (step.kind == Step::Kind::allocate) {
      duel.exists(step.block) ? program.granted() : program.refused();
    }
    if (difference.empty() && (i % 1000 == 0 || i == length)) difference = duel.compare();
    if (difference.empty()) continue;
    const auto needed = shrink(circumstances, steps);
    Duel again(circumstances);
    std::string last;
    for (const Step& kept : needed) last = again.play(kept);
    if (last.empty()) last = again.compare();
    FAIL() << describe(circumstances) << ", seed " << seed << ", operation " << i << ": "
           << difference << "\nThe same in " << needed.size() << " operations:\n"
           << describe(needed) << last;
  }
  add_counts(duel.reference(), counts);
}

class TorchAgainstReference : public testing::TestWithParam<Play> {};

TEST_P(TorchAgainstReference, GivesTheSamePlacesAndStatistics) {
  const Play& play = GetParam();
  constexpr std::array<Bytes, 4> kEighths = {1, 4, 8, 16};
  const std::uint64_t of_each = operations() / (2 * play.releases.size());
  const std::uint64_t of_episode = std::clamp<std::uint64_t>(of_each / 3, 1, 100000);
  Counts counts;
  std::uint64_t seed = 0;
  for (std::uint64_t played = 0; played < of_each; played += of_episode) {
    for (const std::string& release : play.releases) {
      for (const AddressPolicy policy : {AddressPolicy::upward, AddressPolicy::first_fit}) {
        std::mt19937_64 random(++seed);
        Circumstances circumstances{.conf = play.conf,
                                    .release = release,
                                    .policy = policy,
                                    .pool_options = play.pool_options,
                                    .request_padding = play.request_padding,
                                    .large_alignment = play.large_alignment};
        const Bytes capacity = play.capacity / 8 * kEighths[random() % kEighths.size()];
        if (capacity != 0) circumstances.capacity = capacity;
        if (play.warm_conf) circumstances.start = left_behind(play, circumstances, seed);
        ASSERT_NO_FATAL_FAILURE(play_episode(play, circumstances, seed, of_episode, counts));
      }
    }
  }
  if (std::getenv("MEMREPLAY_SHOW_COUNTS")) {
    for (const auto& [rule, times] : counts) std::cout << rule << ": " << times << '\n';
  }
  for (const std::string& rule : play.must_meet)
    EXPECT_NE(counts[rule], 0u) << rule << " was never met";
}

INSTANTIATE_TEST_SUITE_P(, TorchAgainstReference, testing::ValuesIn(plays()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace memreplay
