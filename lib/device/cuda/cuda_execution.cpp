#include "device/cuda/cuda_execution.hpp"

namespace memreplay {

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

}  // namespace memreplay
