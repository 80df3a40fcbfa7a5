#include <gtest/gtest.h>

#include <cstdlib>

#include "random_recording.hpp"
#include "real_trial.hpp"

// What a driver may do in the middle of a replay, over the stand-in.

namespace memreplay {
namespace {

constexpr int kOutOfMemory = 2;  // CUresult
constexpr int kUnknown = 999;
constexpr Bytes kEnough = 512 * kMiB;

/// The environment may ask for every call to fail once, not just some.
std::uint64_t calls_between_faults() {
  return std::getenv("MEMREPLAY_EVERY_FAULT") == nullptr ? 89 : 1;
}

struct Fault {
  const char* strategy;
  int error;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.strategy << fault.error; }

std::vector<Fault> faults() {
  std::vector<Fault> all;
  for (const char* strategy : {"torch", "torch:expandable_segments=True", "gmlake",
                               "bfc:coalesce_regions=true", "cuda-async", "cuda-direct"}) {
    for (const int error : {kOutOfMemory, kUnknown}) all.push_back({strategy, error});
  }
  return all;
}

/// Pieces that are freed side by side and asked for as one, so that gmlake stitches.
Recording to_be_stitched() {
  TraceBuilder builder(0);
  const std::uint16_t lanes[] = {builder.lane(0, PoolId{}), builder.lane(1, PoolId{})};
  std::vector<Slot> slots;
  const auto alloc = [&](Bytes size, int lane = 0) {
    slots.push_back(builder.take_slot());
    builder.add(Op::allocate, lanes[lane], slots.back(), size);
    return slots.back();
  };
  for (int round = 0; round < 2; ++round) {
    const Bytes size = (2 + static_cast<Bytes>(round)) * kMiB;
    const Slot a = alloc(size), b = alloc(size, 1), c = alloc(size), small = alloc(1000, 1);
    builder.add(Op::free, lanes[0], a, size);
    builder.add(Op::free, lanes[0], c, size);
    const Slot both = alloc(2 * size);
    builder.add(Op::free_requested, lanes[1], b, size);
    const Slot other = alloc(3 * size);
    builder.add(Op::free_completed, lanes[1], b, size);
    builder.add(Op::free, lanes[0], both, 2 * size);
    builder.add(Op::free, lanes[1], small, 1000);
    builder.add(Op::empty_cache, lanes[0], kNoSlot, 0);
    builder.add(Op::free, lanes[0], other, 3 * size);
    alloc(size / 2);
  }
  Recording recording;
  recording.format = "csv";
  recording.texts = {""};
  recording.traces.push_back(builder.finish());
  return recording;
}

/// What the replay says when it throws.
struct Heard {
  std::string error;
  bool closing = false;  ///< the fault came when all was given back
  Outcome outcome;
};

Heard replay_with_fault(const Fault& fault, std::uint64_t n) {
  static const Recording recording = to_be_stitched();
  Heard heard;
  stand_in().reset();
  stand_in().fail_call(nullptr, n, fault.error);
  heard.error = message_of<DeviceError>([&] {
    const auto memory = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
    const Subject subject(recording, recording.traces.front());
    Trial trial(Contender(subject, parse_strategy(fault.strategy)),
                {.device = {.capacity = kEnough},
                 .memory = memory.get(),
                 .touch = Touch::all,
                 .timed = true});
    ReplayResult result = trial.run();
    heard.outcome.metrics = std::move(result.metrics);
    heard.outcome.finished = result.finished;
    heard.closing = *stand_in().failed_call() == '\0';
  });
  return heard;
}

class RealFaults : public testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(AnyCall, RealFaults, testing::ValuesIn(faults()), [](const auto& tested) {
  std::string name = tested.param.strategy;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + (tested.param.error == kUnknown ? "_unknown" : "_full");
});

TEST_P(RealFaults, WhicheverCallFailsNothingLeaksAndTheReplayGoesOnOrSaysWhy) {
  const Fault fault = GetParam();
  int failed = 0;
  int served_otherwise = 0;
  for (std::uint64_t n = 1;; n += calls_between_faults()) {
    const Heard heard = replay_with_fault(fault, n);
    const std::string call = stand_in().failed_call();
    SCOPED_TRACE(std::to_string(n) + " " + call + " " + heard.error);
    EXPECT_EQ(stand_in().leaks(), 0u) << stand_in().leaks_text();
    EXPECT_EQ(stand_in().misuse(), 0u) << stand_in().misuse_text();
    if (call.empty()) {
      EXPECT_EQ(heard.error, "");
      break;
    }
    ++failed;
    if (heard.error.empty()) {
      EXPECT_TRUE(heard.closing || fault.error == kOutOfMemory);
      EXPECT_TRUE(heard.outcome.finished);
      const TouchedBlocks& touched = heard.outcome.metrics.real->touched;
      EXPECT_EQ(touched.checked, touched.filled);
      served_otherwise += !heard.closing;
    } else {
      EXPECT_EQ(heard.error.rfind("cuda:0: " + call + ": ", 0), 0u);
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(failed, calls_between_faults() == 1 ? 200 : 2);
  const bool may_go_on = fault.error == kOutOfMemory && calls_between_faults() == 1;
  EXPECT_GT(served_otherwise, may_go_on ? 3 : -1);
  stand_in().reset();
}

using FullerThanItSaid = StandInTest;

TEST_F(FullerThanItSaid, ADriverThatFillsUpMakesOomsAndTheReplayEnds) {
  open();
  constexpr Bytes kReally = 8 * kMiB;
  for (const char* strategy :
       {"torch", "torch:expandable_segments=True", "gmlake", "bfc:coalesce_regions=true", "buddy",
        "cuda-async", "cuda-direct", "direct"}) {
    SCOPED_TRACE(strategy);
    stand_in().set_capacity(kReally);
    const Outcome outcome =
        run(random_recording({.seed = 3, .events = 400, .live_at_most = 60, .largest_log2 = 22}),
            strategy, kEnough, memory->facts().granularity, memory.get());
    EXPECT_TRUE(outcome.finished);
    EXPECT_GT(outcome.metrics.ooms, 0u);
    EXPECT_EQ(outcome.metrics.real->touched.checked, outcome.metrics.real->touched.filled);
  }
}

TEST_F(FullerThanItSaid, AReplayAfterOneThatFailedKnowsNothingOfIt) {
  open();
  const Recording recording = random_recording({});
  const auto replay = [&] {
    (void)run(recording, "torch", kEnough, memory->facts().granularity, memory.get());
  };
  stand_in().fail_call("cuLaunchKernel", 50, kUnknown);
  EXPECT_NE(message_of<DeviceError>(replay), "");
  EXPECT_EQ(message_of<DeviceError>(replay), "");
}

}  // namespace
}  // namespace memreplay
