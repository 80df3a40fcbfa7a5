#include "device/cuda/cuda_execution.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "device/real/touch_parts.hpp"

namespace memreplay {

extern const char kTouchPtx[];  // touch.cu as the driver takes it; made when the program is built

namespace {

constexpr std::size_t kIntervals = 512;
constexpr double kNanosecondsPerMillisecond = 1e6;

constexpr std::size_t kMismatchesKept = 1000;
constexpr std::uint64_t kNoDifference = ~std::uint64_t{0};

constexpr unsigned kThreads = 256;  ///< threads in a block
constexpr unsigned kMostBlocks = 2048;

TouchedRange touched(RealRange range, Touch touch) {
  return {range.address, range.address + range.size, touch == Touch::all};
}

bool is_too_new(CUresult refusal) {
  return refusal == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || refusal == CUDA_ERROR_INVALID_PTX ||
         refusal == CUDA_ERROR_NO_BINARY_FOR_GPU;
}

}  // namespace

CudaExecution::~CudaExecution() {
  driver_.discard(driver_.cuCtxSynchronize);
  for (const CUevent event : events_) driver_.discard(driver_.cuEventDestroy, event);
  for (const CUstream stream : streams_) {
    if (stream != nullptr) driver_.discard(driver_.cuStreamDestroy, stream);
  }
}

CUstream CudaExecution::stream(StreamIndex stream) {
  CUstream& of_device = streams_[stream % kStreams];
  if (of_device == nullptr) {
    driver_.require(driver_.cuStreamCreate, &of_device,
                    static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  }
  return of_device;
}

void CudaExecution::fill(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) {
  kernels_.fill(this->stream(stream), range, tag, touch);
}

void CudaExecution::check(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) {
  kernels_.check(this->stream(stream), range, tag, touch);
}

Execution::Point CudaExecution::record(StreamIndex stream) {
  const CUstream of_device = this->stream(stream);
  if (free_points_.empty()) {
    CUevent event = nullptr;
    driver_.require(driver_.cuEventCreate, &event, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
    events_.push_back(event);
    free_points_.push_back(static_cast<Point>(events_.size() - 1));
  }
  const Point point = free_points_.back();
  driver_.require(driver_.cuEventRecord, events_[point], of_device);
  free_points_.pop_back();
  return point;
}

void CudaExecution::wait(Point point) {
  driver_.require(driver_.cuEventSynchronize, events_[point]);
}

bool CudaExecution::reached(Point point) {
  const CUresult result = driver_.cuEventQuery.function(events_[point]);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) {
    driver_.fail(driver_.cuEventQuery.name, result);
  }
  return result == CUDA_SUCCESS;
}

void CudaExecution::wait(StreamIndex stream, Point point) {
  driver_.require(driver_.cuStreamWaitEvent, this->stream(stream), events_[point], 0u);
}

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

TouchKernels::~TouchKernels() {
  if (places_ != 0) driver_.discard(driver_.cuMemFree, places_);
  if (module_ != nullptr) driver_.discard(driver_.cuModuleUnload, module_);
}

// After a failure the next call goes on where it stopped.
void TouchKernels::load() {
  if (module_ == nullptr) {
    const CUresult result = driver_.cuModuleLoadData.function(&module_, kTouchPtx);
    if (result != CUDA_SUCCESS) {
      module_ = nullptr;
      driver_.fail(driver_.cuModuleLoadData.name, result,
                   is_too_new(result) ? ": the driver or the GPU is older than the CUDA toolkit of "
                                        "this build; --touch=none does without"
                                      : "");
    }
  }
  if (fill_ == nullptr) {
    driver_.require(driver_.cuModuleGetFunction, &fill_, module_, "memreplay_fill");
  }
  if (check_ == nullptr) {
    driver_.require(driver_.cuModuleGetFunction, &check_, module_, "memreplay_check");
  }
  if (places_ == 0) {
    driver_.require(driver_.cuMemAlloc, &places_, kPlaces * sizeof(std::uint64_t));
  }
  if (stale_ == 0) return;
  const unsigned char ones = 0xff;
  driver_.require(driver_.cuMemsetD8, places_, ones, stale_ * sizeof(std::uint64_t));
  driver_.require(driver_.cuCtxSynchronize);  // no other stream waits for the default one
  stale_ = 0;
}

void TouchKernels::launch(CUfunction kernel, CUstream stream, std::uint64_t parts,
                          void** arguments) {
  const std::uint64_t blocks =
      std::min<std::uint64_t>((parts + kThreads - 1) / kThreads, kMostBlocks);
  driver_.require(driver_.cuLaunchKernel, kernel, static_cast<unsigned>(blocks), 1u, 1u, kThreads,
                  1u, 1u, 0u, stream, arguments, nullptr);
}

void TouchKernels::fill(CUstream stream, RealRange range, std::uint64_t tag, Touch touch) {
  if (range.size == 0) return;
  load();
  TouchedRange of = touched(range, touch);
  void* arguments[] = {&of, &tag};
  launch(fill_, stream, touch_part_count(of), arguments);
}

void TouchKernels::check(CUstream stream, RealRange range, std::uint64_t tag, Touch touch) {
  if (range.size == 0) return;
  const bool same_block = !tags_.empty() && tags_.back() == tag;
  if (!same_block && tags_.size() == kPlaces) read_places();
  load();
  if (!same_block) tags_.push_back(tag);
  TouchedRange of = touched(range, touch);
  CUdeviceptr place = places_ + (tags_.size() - 1) * sizeof(std::uint64_t);
  void* arguments[] = {&of, &tag, &place};
  launch(check_, stream, touch_part_count(of), arguments);
}

void TouchKernels::read_places() {
  if (tags_.empty()) return;
  std::vector<std::uint64_t> lowest(tags_.size());
  driver_.require(driver_.cuCtxSynchronize);
  driver_.require(driver_.cuMemcpyDtoH, lowest.data(), places_,
                  lowest.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < lowest.size(); ++i) {
    if (lowest[i] == kNoDifference) continue;
    stale_ = lowest.size();
    if (found_.size() < kMismatchesKept) found_.push_back({tags_[i], lowest[i]});
  }
  tags_.clear();
}

std::vector<TouchMismatch> TouchKernels::mismatches() {
  if (tags_.empty()) driver_.require(driver_.cuCtxSynchronize);
  read_places();
  return std::exchange(found_, {});
}

}  // namespace memreplay
