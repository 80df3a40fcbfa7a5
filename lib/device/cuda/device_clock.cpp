#include "device/cuda/device_clock.hpp"

#include <cmath>

namespace memreplay {
namespace {

constexpr std::size_t kIntervals = 512;
constexpr double kNanosecondsPerMillisecond = 1e6;

}  // namespace

DeviceClock::~DeviceClock() {
  for (const Interval& interval : intervals_) {
    if (interval.from != nullptr) driver_.discard(driver_.cuEventDestroy, interval.from);
    if (interval.to != nullptr) driver_.discard(driver_.cuEventDestroy, interval.to);
  }
}

void DeviceClock::start(CUstream stream) {
  started_ = false;
  if (unread_ == kIntervals) read();
  if (unread_ == intervals_.size()) intervals_.emplace_back();
  Interval& interval = intervals_[unread_];
  for (CUevent* event : {&interval.from, &interval.to}) {
    if (*event == nullptr) {
      driver_.require(driver_.cuEventCreate, event, static_cast<unsigned>(CU_EVENT_DEFAULT));
    }
  }
  driver_.require(driver_.cuEventRecord, interval.from, stream);
  stream_ = stream;
  started_ = true;
}

void DeviceClock::stop(CallKind kind) {
  if (!started_) return;
  started_ = false;
  driver_.require(driver_.cuEventRecord, intervals_[unread_].to, stream_);
  intervals_[unread_].kind = kind;
  ++unread_;
}

// A failure loses the intervals not yet read.
void DeviceClock::read() {
  const std::size_t count = unread_;
  unread_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Interval& interval = intervals_[i];
    float milliseconds = 0;
    driver_.require(driver_.cuEventSynchronize, interval.to);
    driver_.require(driver_.cuEventElapsedTime, &milliseconds, interval.from, interval.to);
    const double ns = std::fmax(0.0, double{milliseconds} * kNanosecondsPerMillisecond);
    times_[static_cast<std::size_t>(interval.kind)].device.add(
        static_cast<std::uint64_t>(std::llround(ns)));
  }
}

void DeviceClock::collect(TimesByKind& times) {
  read();
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    times[kind].device.add(times_[kind].device);
    times_[kind].device = {};
  }
}

}  // namespace memreplay
