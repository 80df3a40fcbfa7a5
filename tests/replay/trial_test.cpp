#include "replay/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "random_recording.hpp"

namespace memreplay {
namespace {

/// Replays of a contender on random devices, each beside one of its own from the beginning.
class BesideTheirOwn {
 public:
  BesideTheirOwn(const Subject& subject, const std::string& conf, bool stop_at_oom)
      : contender_(subject, torch_spec_from_conf(conf)) {
    options_.stops.at_oom = stop_at_oom;
    options_.watch_capacity = true;
  }

  /// How many of them did not begin at the first event.
  int agree(int replays, std::uint64_t seed) {
    const Bytes peak = replay(contender_, options_).result.metrics.peak_reserved;
    std::mt19937_64 random(seed);
    int later = 0;
    std::optional<double> first_share;
    ReplayOptions heard = options_;
    heard.stops.progress = [&](double share) { first_share = first_share.value_or(share); };
    Branches branches(contender_, heard);
    for (int i = 0; i < replays; ++i) {
      // The second half goes upward to what suffices, as a search for the smallest device does.
      const Bytes any = i < replays / 2 ? peak / 4 + random() % peak
                                        : peak - peak / 4 * static_cast<Bytes>(replays - i) /
                                                     static_cast<Bytes>(replays);
      std::optional<Bytes> capacity = any / (2 * kMiB) * (2 * kMiB);
      if (random() % 8 == 0) capacity.reset();
      ReplayOptions alone = options_;
      alone.device.capacity = capacity;
      first_share.reset();
      expect_same(replay(contender_, alone), branches.replay_on(capacity), capacity);
      later += *first_share > 0;
    }
    return later;
  }

 private:
  static void expect_same(const Replayed& alone, const Replayed& branch,
                          std::optional<Bytes> capacity) {
    SCOPED_TRACE(capacity.value_or(0));
    const RunMetrics& a = alone.result.metrics;
    const RunMetrics& b = branch.result.metrics;
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.allocs, b.allocs);
    EXPECT_EQ(a.ooms, b.ooms);
    EXPECT_EQ(a.oom_retries, b.oom_retries);
    EXPECT_EQ(a.peak_requested, b.peak_requested);
    EXPECT_EQ(a.peak_allocated, b.peak_allocated);
    EXPECT_EQ(a.peak_reserved, b.peak_reserved);
    EXPECT_EQ(a.end_reserved, b.end_reserved);
    EXPECT_EQ(a.external_fragmentation, b.external_fragmentation);
    EXPECT_EQ(a.device_allocs, b.device_allocs);
    EXPECT_EQ(a.device_frees, b.device_frees);
    EXPECT_EQ(a.modelled_device_seconds, b.modelled_device_seconds);
    EXPECT_EQ(a.counters, b.counters);
    ASSERT_EQ(a.first_oom.has_value(), b.first_oom.has_value());
    if (a.first_oom) {
      EXPECT_EQ(a.first_oom->event, b.first_oom->event);
      EXPECT_EQ(a.first_oom->free, b.first_oom->free);
      EXPECT_EQ(a.first_oom->largest_free, b.first_oom->largest_free);
    }
    EXPECT_EQ(alone.result.finished, branch.result.finished);
    EXPECT_EQ(alone.result.refusals, branch.result.refusals);
    EXPECT_TRUE(std::ranges::equal(alone.result.blocks, branch.result.blocks, {},
                                   &Placement::address, &Placement::address));
    EXPECT_EQ(alone.trial->watch()->least_refused(), branch.trial->watch()->least_refused());
    EXPECT_EQ(alone.trial->usage().peak_awake, branch.trial->usage().peak_awake);
  }

  Contender contender_;
  ReplayOptions options_;
};

TEST(Branches, ComeToWhatReplaysOfTheirOwnComeTo) {
  const Recording recording =
      random_recording({.seed = 7, .events = 100'000, .live_at_most = 400, .pools = 2, .rare = 1});
  const Subject subject(recording, recording.traces.front());
  for (const char* conf : {"", "max_split_size_mb:32", "roundup_power2_divisions:4"}) {
    for (const bool stop : {true, false}) {
      EXPECT_GT(BesideTheirOwn(subject, conf, stop).agree(20, 5), 4) << conf;
    }
  }
}

TEST(Branches, OfAnAllocatorThatAsksForTheSizeOfTheDeviceNoneIsShared) {
  const Recording recording = random_recording({.events = 60'000, .live_at_most = 200});
  const Subject subject(recording, recording.traces.front());
  EXPECT_EQ(BesideTheirOwn(subject, "expandable_segments:True", false).agree(5, 5), 0);
}

}  // namespace
}  // namespace memreplay
