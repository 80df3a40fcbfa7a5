#include "extensions/calibrate/answer.hpp"

#include <gtest/gtest.h>

#include "core/control.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/host/host_memory.hpp"
#ifdef MEMREPLAY_STAND_IN_DRIVER
#include "support/stand_in_driver/controls.hpp"
#endif

namespace memreplay {
namespace {

const CalibrateQuestion kFew{.largest = 4 * kMiB, .repeats = 5};

Calibration calibrate(RealMemory& memory, const CalibrateQuestion& question,
                      const Control& control = {}) {
  return answer(memory, question, control).calibration;
}

void expect_measured(const CalibratedCall& call, Bytes smallest) {
  ASSERT_FALSE(call.sizes.empty());
  EXPECT_EQ(call.sizes.front().bytes, smallest);
  EXPECT_EQ(call.sizes.back().bytes, 4 * kMiB);
  for (std::size_t i = 0; i < call.sizes.size(); ++i) {
    EXPECT_EQ(call.sizes[i].times.count(), 5u);
    if (i > 0) {
      EXPECT_GT(call.sizes[i].bytes, call.sizes[i - 1].bytes);
    }
  }
}

TEST(Calibrate, MeasuresEveryCallAtEverySizeAsOftenAsAsked) {
  const auto host = open_host_memory();
  const Calibration calibration = calibrate(*host, kFew);
  EXPECT_TRUE(calibration.finished);
  const Bytes page = host->facts().granularity;
  expect_measured(calibration.alloc, page);
  expect_measured(calibration.free, page);
  expect_measured(calibration.map, page);
  expect_measured(calibration.unmap, page);
}

TEST(Calibrate, WhatWorksAtOnceCannotTellWhetherACallWaits) {
  const auto host = open_host_memory();
  EXPECT_FALSE(calibrate(*host, kFew).free.waits.has_value());
}

TEST(Calibrate, StoppedItEndsAtOnce) {
  const auto host = open_host_memory();
  const std::atomic<bool> stop{true};
  const Calibration calibration = calibrate(*host, kFew, {.stop = &stop});
  EXPECT_FALSE(calibration.finished);
  EXPECT_TRUE(calibration.alloc.sizes.empty());
}

#ifdef MEMREPLAY_STAND_IN_DRIVER
TEST(Calibrate, TellsTheCallsThatWaitForTheDevice) {
  const auto gpu = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
  const Calibration calibration = calibrate(*gpu, kFew);
  EXPECT_EQ(calibration.alloc.waits, false);
  EXPECT_EQ(calibration.free.waits, true);
  EXPECT_EQ(calibration.map.waits, false);
  EXPECT_EQ(calibration.alloc.sizes.front().bytes, 4 * kKiB);
  EXPECT_EQ(calibration.map.sizes.front().bytes, gpu->facts().granularity);
}

TEST(Calibrate, GivesEverythingBackWhicheverCallFails) {
  const StandInControls stand_in(MEMREPLAY_STAND_IN_DRIVER);
  const CalibrateQuestion kFewest{
      .largest = 2 * kMiB, .repeats = 1, .work = std::chrono::milliseconds{0}};
  for (std::uint64_t n = 1;; ++n) {
    stand_in.reset();
    stand_in.set_capacity(32 * kMiB);
    stand_in.fail_call(nullptr, n, 999);  // CUDA_ERROR_UNKNOWN
    try {
      (void)calibrate(*open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER), kFewest);
    } catch (const DeviceError&) {
    }
    EXPECT_EQ(stand_in.leaks(), 0u) << n << ' ' << stand_in.leaks_text();
    EXPECT_EQ(stand_in.misuse(), 0u) << n << ' ' << stand_in.misuse_text();
    if (*stand_in.failed_call() == '\0') break;
  }
  stand_in.reset();
}
#endif

}  // namespace
}  // namespace memreplay
