#pragma once

#include <array>
#include <vector>

#include "device/cuda/device_clock.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/touch_kernels.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

/// Work on a GPU. A stream is made when something is first asked of it.
class CudaExecution final : public Execution {
 public:
  static constexpr std::size_t kStreams = 32;

  explicit CudaExecution(const DriverApi& driver)
      : driver_(driver), kernels_(driver), clock_(driver) {}
  ~CudaExecution() override;
  CudaExecution(const CudaExecution&) = delete;
  CudaExecution& operator=(const CudaExecution&) = delete;

  /// The device's stream for a stream of the trace.
  CUstream stream(StreamIndex stream);

  void prepare() override { kernels_.load(); }
  void fill(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override;
  void check(StreamIndex stream, RealRange range, std::uint64_t tag, Touch touch) override;
  std::vector<TouchMismatch> mismatches() override { return kernels_.mismatches(); }

  Point record(StreamIndex stream) override;
  void forget(Point point) override { free_points_.push_back(point); }
  void wait(Point point) override;
  void wait(StreamIndex stream, Point point) override;
  bool reached(Point point) override;
  bool same(StreamIndex a, StreamIndex b) const override { return a % kStreams == b % kStreams; }
  void synchronise() override { driver_.require(driver_.cuCtxSynchronize); }

  void start_clock(StreamIndex stream) override { clock_.start(this->stream(stream)); }
  void stop_clock(CallKind kind) override { clock_.stop(kind); }
  void collect(TimesByKind& times) override { clock_.collect(times); }

 private:
  const DriverApi& driver_;
  TouchKernels kernels_;
  DeviceClock clock_;
  std::array<CUstream, kStreams> streams_{};
  std::vector<CUevent> events_;  ///< by point
  std::vector<Point> free_points_;
};

}  // namespace memreplay
