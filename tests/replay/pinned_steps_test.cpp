#include <gtest/gtest.h>

#include <map>

#include "device/cost_model.hpp"
#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

/// What is held after the first, light step and on both sides of `empty_cache`, and the modelled
/// time of the steps after it.
struct Outcome {
  Bytes after_first_step = 0;
  Bytes before = 0;
  Bytes after = 0;
  double seconds_later = 0;
  std::uint64_t host_allocs_later = 0;
  Bytes live_after = 0;
};

class BlockWatch final : public Watcher {
 public:
  BlockWatch(const Trace& trace, const DeviceModel& device) : trace_(trace), device_(device) {}

  void on_event(const EventState& state, const Strategy&) override {
    const Op op = trace_.ops[state.event];
    if (op == Op::marker && outcome_.after_first_step == 0) {
      outcome_.after_first_step = state.reserved;
    }
    if (op == Op::empty_cache) {
      outcome_.before = last_reserved_;
      outcome_.after = state.reserved;
      outcome_.live_after = state.allocated;
      usage_there_ = device_.usage();
    }
    last_reserved_ = state.reserved;
  }

  Outcome finished() {
    DeviceUsage later = device_.usage();
    later.allocs -= usage_there_.allocs;
    later.frees -= usage_there_.frees;
    outcome_.host_allocs_later = later.allocs;
    outcome_.seconds_later = modelled_seconds({}, later);
    return outcome_;
  }

 private:
  const Trace& trace_;
  const DeviceModel& device_;
  Bytes last_reserved_ = 0;
  DeviceUsage usage_there_;
  Outcome outcome_;
};

Outcome outcome_of(const char* spec) {
  const Recording recording = read_recording(MEMREPLAY_TRACES "/pinned-steps.csv");
  const Trace& trace = recording.traces.front();
  SimulatedDevice device({.granularity = 4 * kKiB});
  const auto strategy = make_strategy(parse_strategy(spec), {.device = device});
  BlockWatch watcher(trace, device);
  replay(program_of(trace, nullptr), *strategy, device, {.watcher = &watcher});
  return watcher.finished();
}

TEST(PinnedSteps, WarmingUpHoldsAllBlocksFromTheStart) {
  EXPECT_LT(outcome_of("pinned").after_first_step, kGiB);
  EXPECT_GE(outcome_of("pinned-buddy").after_first_step, 8 * kGiB);
  EXPECT_GE(outcome_of("pinned-buddy:count=12").after_first_step, 12 * kGiB);
}

TEST(PinnedSteps, TheThresholdLetsEmptyCacheReturnTheWarmBlocks) {
  const Outcome plain = outcome_of("pinned");
  const Outcome with_threshold = outcome_of("pinned-buddy");
  const Outcome without = outcome_of("pinned-buddy:threshold=0");
  EXPECT_GE(with_threshold.before, 8 * kGiB);
  EXPECT_EQ(with_threshold.after, with_threshold.live_after);
  EXPECT_EQ(with_threshold.after, plain.after);
  EXPECT_LT(with_threshold.after, 100 * kMiB);
  // Small blocks live in every warm block.
  EXPECT_EQ(without.before, 8 * kGiB);
  EXPECT_EQ(without.after, without.before);
}

TEST(PinnedSteps, TheStepsAfterwardsAskTheHostLessOften) {
  const Outcome plain = outcome_of("pinned");
  const Outcome with_threshold = outcome_of("pinned-buddy");
  const Outcome without = outcome_of("pinned-buddy:threshold=0");
  EXPECT_EQ(with_threshold.host_allocs_later, 8u);  // the warm blocks, taken again
  EXPECT_GT(plain.host_allocs_later, 50u);
  EXPECT_LT(with_threshold.seconds_later, plain.seconds_later / 5);
  EXPECT_EQ(without.host_allocs_later, 0u);
}

}  // namespace
}  // namespace memreplay
