#include "questions/fit/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "core/error.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

TEST(Cards, TheSmallestComesFirst) {
  EXPECT_TRUE(std::ranges::is_sorted(cards(), {}, &Card::total));
}

TEST(Cards, ANameIsFoundHoweverItIsWritten) {
  EXPECT_EQ(card_named("rtx 4090").card.name, "RTX-4090");
  EXPECT_EQ(card_named("a100-80gb").card.name, "A100-80GB");
  EXPECT_EQ(card_named("NVIDIA H100 80GB HBM3").card.name, "H100-80GB");
  EXPECT_EQ(card_named("Tesla V100-SXM2-32GB").card.name, "V100-32GB");
  EXPECT_EQ(card_named("NVIDIA GeForce RTX 3090").card.name, "RTX-3090");
}

TEST(Cards, APartOfANameWillDo) {
  EXPECT_EQ(card_named("4090").card.name, "RTX-4090");
  EXPECT_EQ(card_named("h100").card.name, "H100-80GB");
  EXPECT_EQ(card_named("h100 80").card.name, "H100-80GB");
  EXPECT_EQ(card_named("l40").card.name, "L40S");
  EXPECT_TRUE(card_named("h100").others.empty());
}

TEST(Cards, AWholeNameIsNoPartOfAnother) {
  EXPECT_EQ(card_named("a10").card.name, "A10");
  EXPECT_TRUE(card_named("a10").others.empty());
  EXPECT_EQ(card_named("L4").card.name, "L4");
  EXPECT_EQ(card_named("h20").card.name, "H20");
}

TEST(Cards, OfSeveralTheMostUsualIsTakenAndTheOthersAreNamed) {
  EXPECT_EQ(card_named("a100").card.name, "A100-80GB");
  EXPECT_EQ(card_named("a100").others, (std::vector<std::string_view>{"A100-40GB"}));
  EXPECT_EQ(card_named("V100").card.name, "V100-16GB");
}

TEST(Cards, EveryNameFindsItsCard) {
  for (const Card& card : cards()) {
    const ChosenCard chosen = card_named(std::string(card.name));
    EXPECT_EQ(chosen.card.name, card.name);
    EXPECT_TRUE(chosen.others.empty()) << card.name;
  }
}

TEST(Cards, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    card_named("RTX-4091");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'RTX-4090'?"), std::string::npos);
  }
}

TEST(Cards, WhatNoCardIsCalledIsRefused) {
  for (const std::string name : {"", "nvidia", "MI300X", "-"}) {
    EXPECT_THROW(card_named(name), UsageError) << name;
  }
}

TEST(Cards, TheSmallestThatFitComeBesideWhatOthersHold) {
  const Recording recording = RecordingWriter().alloc(0, 11 * kGiB).recording();
  const Subject subject(recording, recording.traces[0]);
  const auto names = [&](SetAside aside) {
    std::vector<std::string_view> found;
    for (const SufficingCard& on : cards_that_fit(
             subject, parse_strategy("direct"), {}, [&](const Card&) { return aside; }, 0, 2)) {
      found.push_back(on.card.name);
    }
    return found;
  };
  EXPECT_EQ(names({}), (std::vector<std::string_view>{"RTX-3060-12GB", "T4"}));
  EXPECT_EQ(names({.others = 2 * kGiB}), (std::vector<std::string_view>{"T4", "V100-16GB"}));
  EXPECT_EQ(names({.most = 2 * kGiB}), (std::vector<std::string_view>{"T4", "V100-16GB"}));
}

TEST(Cards, BetweenTheBoundsOfWhatIsSetAsideItMayFit) {
  const auto on_t4 = [](Bytes size) {
    const Recording recording = RecordingWriter().alloc(0, size).recording();
    const Card card = card_named("T4").card;
    const SetAside aside{.context = 500 * kMiB, .least = 100 * kMiB, .most = 900 * kMiB};
    return *runs_on_card(Subject(recording, recording.traces[0]), parse_strategy("direct"), {},
                         card, aside);
  };
  EXPECT_TRUE(on_t4(14000 * kMiB).fits);
  for (const Bytes size : {14100 * kMiB, 14500 * kMiB, 14800 * kMiB}) {
    EXPECT_FALSE(on_t4(size).fits) << size;
    EXPECT_TRUE(on_t4(size).may_fit) << size;
  }
  EXPECT_FALSE(on_t4(14100 * kMiB).first_oom);
  EXPECT_TRUE(on_t4(14500 * kMiB).first_oom);
  EXPECT_FALSE(on_t4(14900 * kMiB).may_fit);
}

TEST(SetAside, EachProcessOnADeviceHasItsOwn) {
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/torch/layers_4.pickle",
                                 MEMREPLAY_TRACES "/torch/seq_growth.pickle"},
                       .together = true});
  const Subject shared = inputs.chosen()[0].subject({});
  const Card card = card_named("T4").card;
  EXPECT_EQ(set_aside_on(card, processes_of(shared)).context, 2 * kContext);
}

FoundFit found_for(const Recording& recording, const std::string& strategy,
                   const FitOptions& options = {}) {
  const Subject subject(recording, recording.traces[0]);
  return fit(subject, parse_strategy(strategy), options);
}

Fit fit_of(const Recording& recording, const std::string& strategy,
           const FitOptions& options = {}) {
  return found_for(recording, strategy, options).fit;
}

bool fits_on(const Recording& recording, const std::string& strategy, Bytes capacity,
             FitOptions options = {}) {
  options.replaying.device.capacity = capacity;
  const Subject subject(recording, recording.traces[0]);
  return runs_on(subject, parse_strategy(strategy), options)->fits;
}

/// Requests of a few sizes, small ones and some that need segments of their own.
Recording random_recording(unsigned seed, std::size_t events) {
  std::mt19937 random(seed);
  constexpr Bytes kSizes[] = {kMiB / 4,  kMiB / 2,  3 * kMiB / 2,  3 * kMiB,  5 * kMiB, 9 * kMiB,
                              11 * kMiB, 13 * kMiB, 17 * kMiB + 5, 22 * kMiB, 31 * kMiB};
  RecordingWriter writer;
  std::set<Slot> live;
  for (std::size_t i = 0; i < events; ++i) {
    if (live.size() > 8 || (!live.empty() && random() % 5 < 2)) {
      const Slot slot = *std::next(live.begin(), static_cast<long>(random() % live.size()));
      live.erase(slot);
      writer.free(slot);
    } else {
      Slot slot = 0;
      while (live.contains(slot)) ++slot;
      live.insert(slot);
      writer.alloc(slot, kSizes[random() % std::size(kSizes)]);
    }
  }
  return writer.recording();
}

TEST(Fit, IsThePeakOfWhatAnExactStrategyHolds) {
  const Recording recording =
      RecordingWriter().alloc(0, 4 * kMiB).alloc(1, 5 * kMiB).free(0).free(1).recording();
  const Fit fit = fit_of(recording, "direct");
  EXPECT_EQ(fit.smallest, 10 * kMiB);  // in granules of 2 MiB
  EXPECT_EQ(fit.smallest_without_retries, 10 * kMiB);
  EXPECT_EQ(fit.known_below, std::nullopt);
  EXPECT_EQ(fit.fails_again, std::nullopt);
}

TEST(Fit, WithRetriesIsSmallerThanWithout) {
  const Recording recording =
      RecordingWriter().alloc(0, 20 * kMiB).free(0).alloc(1, 30 * kMiB).free(1).recording();
  const auto [fit, there] = found_for(recording, "torch");
  EXPECT_EQ(fit.smallest, 30 * kMiB);
  EXPECT_EQ(there->metrics.oom_retries, 1u);
  EXPECT_EQ(fit.smallest_without_retries, 50 * kMiB);
}

TEST(Fit, WhatOthersHoldIsPartOfTheAnswer) {
  const Recording recording = RecordingWriter().alloc(0, 20 * kMiB).free(0).recording();
  FitOptions options;
  options.replaying.device.reserve = 7 * kMiB;
  EXPECT_EQ(fit_of(recording, "torch", options).smallest, 28 * kMiB);
}

TEST(Fit, AStrategyWithALimitOfItsOwnFitsNowhere) {
  const Recording recording = RecordingWriter().alloc(0, 20 * kMiB).alloc(1, 30 * kMiB).recording();
  const Fit fit = fit_of(recording, "bump:size=32MiB");
  EXPECT_EQ(fit.smallest, std::nullopt);
  ASSERT_TRUE(fit.first_oom);
  EXPECT_EQ(fit.first_oom->event, 1u);
}

TEST(Fit, ARefusedRequestOfTheRecordingMustBeServed) {
  const Recording recording =
      RecordingWriter().alloc(0, 20 * kMiB).add(Op::oom, kNoSlot, 100 * kMiB).recording();
  EXPECT_EQ(fit_of(recording, "torch").smallest, 120 * kMiB);
}

TEST(Fit, NoDeviceIsSmallerThanWhatARecordingStartsWith) {
  const Recording recording = read_recording(MEMREPLAY_TRACES "/torch/warm_ring.pickle");
  const Fit fit = fit_of(recording, "recorded");
  EXPECT_EQ(fit.smallest, reserved_bytes(recording.traces[0].start));
  EXPECT_TRUE(fit.bounded_by_start);
  EXPECT_FALSE(fit.proven_smallest());
  EXPECT_FALSE(fits_on(recording, "recorded", *fit.smallest - 2 * kMiB));
  EXPECT_FALSE(fit_of(random_recording(0, 20), "torch").bounded_by_start);
}

TEST(Fit, SaysWhetherItFitsTheGivenDevice) {
  const Recording recording = RecordingWriter().alloc(0, 20 * kMiB).recording();
  FitOptions options;
  options.replaying.device.capacity = 19 * kMiB;
  const Fit small = fit_of(recording, "torch", options);
  EXPECT_FALSE(small.given->fits);
  EXPECT_EQ(small.given->first_oom->event, 0u);
  EXPECT_EQ(small.smallest, 20 * kMiB);
  options.replaying.device.capacity = 20 * kMiB;
  EXPECT_TRUE(fit_of(recording, "torch", options).given->fits);
}

TEST(Fit, AStrategyThatCannotBeginOnTheGivenDeviceDoesNotFitThere) {
  const Recording recording = RecordingWriter().alloc(0, 20 * kMiB).recording();
  FitOptions options;
  options.replaying.device.capacity = kMiB;
  const Fit fit = fit_of(recording, "rmm-arena", options);
  EXPECT_FALSE(fit.given->fits);
  EXPECT_TRUE(fit.smallest);
}

TEST(Fit, BlocksFromBeforeTheRecordingNeedRoomToo) {
  Recording recording = RecordingWriter().alloc(0, 4 * kMiB).free(0).recording();
  Trace& trace = recording.traces[0];
  trace.start.segments = {
      {.address = 0x7f0000000000,
       .size = 30 * kMiB,
       .blocks = {{0x7f0000000000, 30 * kMiB, 30 * kMiB, BlockState::allocated, 1}}}};
  trace.slot_count = 2;
  EXPECT_EQ(fit_of(recording, "direct").smallest, 34 * kMiB);
  EXPECT_FALSE(fits_on(recording, "direct", 20 * kMiB));
}

// On 122 MiB the retry releases two segments that a smaller device has already had back.
TEST(Fit, ALargerDeviceMayFailWhereASmallerOneFits) {
  RecordingWriter writer;
  writer.alloc(0, 3 * kMiB).alloc(1, 9 * kMiB).alloc(2, 3 * kMiB / 2).free(0).free(2);
  writer.alloc(0, 9 * kMiB).free(0).alloc(0, kMiB / 4).alloc(2, 31 * kMiB).alloc(3, 31 * kMiB);
  writer.alloc(4, 3 * kMiB).alloc(5, 13 * kMiB).free(4).alloc(4, 5 * kMiB).free(1);
  writer.alloc(1, 9 * kMiB).free(3).free(5).alloc(3, 31 * kMiB).alloc(5, 17 * kMiB);
  const Recording recording = writer.recording();
  const Fit fit = fit_of(recording, "torch");
  EXPECT_EQ(fit.smallest, 104 * kMiB);
  EXPECT_TRUE(fit.proven_smallest());
  EXPECT_EQ(fit.fails_again, 122 * kMiB);
  EXPECT_TRUE(fits_on(recording, "torch", 104 * kMiB));
  EXPECT_FALSE(fits_on(recording, "torch", 122 * kMiB));
  EXPECT_TRUE(fits_on(recording, "torch", 124 * kMiB));
}

TEST(Fit, WithoutBudgetTheProofIsMissing) {
  const Recording recording = random_recording(3, 200);
  FitOptions options;
  options.budget = 701;  // no more than one replay
  const Fit hasty = fit_of(recording, "torch", options);
  EXPECT_FALSE(hasty.proven_smallest());
  options.budget = 100'000'000;
  const Fit thorough = fit_of(recording, "torch", options);
  EXPECT_TRUE(thorough.proven_smallest());
  EXPECT_GT(hasty.smallest, thorough.smallest);
}

TEST(Fit, ACancelledSearchSaysSo) {
  const std::atomic<bool> cancelled = true;
  FitOptions options;
  options.replaying.stops.cancelled = &cancelled;
  const Fit fit = fit_of(random_recording(1, 50), "torch", options);
  EXPECT_FALSE(fit.finished);
  EXPECT_EQ(fit.smallest, std::nullopt);
}

/// What trying every granule finds.
struct Tried {
  std::optional<Bytes> smallest;
  std::optional<Bytes> smallest_without_retries;
  std::optional<Bytes> fails_again;
};

Tried tried_all(const Recording& recording, const std::string& strategy, Bytes granule, Bytes to) {
  const Subject subject(recording, recording.traces[0]);
  const StrategySpec spec = parse_strategy(strategy);
  Tried tried;
  for (Bytes capacity = granule; capacity < to; capacity += granule) {
    ReplayOptions options;
    options.device.capacity = capacity;
    options.device.granularity = granule;
    bool fits = false;
    std::uint64_t retries = 0;
    try {
      const RunMetrics metrics =
          Trial(Contender(subject, spec, ProgramOptions{}), options).run().metrics;
      fits = metrics.ooms == 0;
      retries = metrics.oom_retries;
    } catch (const std::exception&) {  // cannot be made on so small a device
    }
    if (fits && !tried.smallest) tried.smallest = capacity;
    if (fits && retries == 0 && !tried.smallest_without_retries) {
      tried.smallest_without_retries = capacity;
    }
    if (!fits && tried.smallest) tried.fails_again = capacity;
  }
  return tried;
}

class FitTried : public testing::TestWithParam<const char*> {};

TEST_P(FitTried, GivesWhatTryingEveryGranuleGives) {
  const std::string strategy = GetParam();
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Recording recording = random_recording(seed, 120);
    FitOptions options;
    const Fit fit = fit_of(recording, strategy, options);
    const Tried tried = tried_all(recording, strategy, 2 * kMiB, 800 * kMiB);
    ASSERT_TRUE(tried.smallest);
    EXPECT_EQ(fit.smallest, tried.smallest);
    ASSERT_TRUE(fit.proven_smallest());
    if (fit.proven_without_retries()) {
      EXPECT_EQ(fit.smallest_without_retries, tried.smallest_without_retries);
    }
    if (!fit.known_below) {
      EXPECT_EQ(fit.fails_again, tried.fails_again);
    }
    EXPECT_TRUE(fits_on(recording, strategy, *fit.smallest));
    EXPECT_FALSE(fits_on(recording, strategy, *fit.smallest - 2 * kMiB));
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, FitTried,
                         testing::Values("torch", "torch:max_split_size_mb=20",
                                         "torch:expandable_segments=True",
                                         "torch:roundup_power2_divisions=4", "bfc", "buddy",
                                         "rmm-pool", "rmm-arena", "cuda-async", "gmlake",
                                         "free-list", "direct", "offload(torch):host=64MiB"));

}  // namespace

}  // namespace memreplay
