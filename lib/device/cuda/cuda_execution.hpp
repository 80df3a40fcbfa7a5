#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/call_times.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

/// Times between two points of a stream, by the device's own clock. They are read late, so that
/// measuring does not make the host wait.
class DeviceClock {
 public:
  explicit DeviceClock(const DriverApi& driver) : driver_(driver) {}
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  void start(CUstream stream);
  void stop(CallKind kind);
  void collect(TimesByKind& times);

 private:
  struct Interval {
    CUevent from = nullptr;
    CUevent to = nullptr;
    CallKind kind = CallKind::alloc;
  };
  void read();

  const DriverApi& driver_;
  std::vector<Interval> intervals_;  ///< used again from the first once they were read
  std::size_t unread_ = 0;           ///< at the start of `intervals_`
  bool started_ = false;
  CUstream stream_ = nullptr;
  TimesByKind times_;  ///< read and not collected
};

/// The kernels that fill blocks and check them. Loaded when the first is needed.
class TouchKernels {
 public:
  explicit TouchKernels(const DriverApi& driver) : driver_(driver) {}
  ~TouchKernels();
  TouchKernels(const TouchKernels&) = delete;
  TouchKernels& operator=(const TouchKernels&) = delete;

  void fill(CUstream stream, RealRange range, std::uint64_t tag, Touch touch);
  void check(CUstream stream, RealRange range, std::uint64_t tag, Touch touch);
  /// See Execution; waits for the whole device. Those beyond the first thousand are dropped.
  std::vector<TouchMismatch> mismatches();

  /// Loads them now.
  void load();

 private:
  void launch(CUfunction kernel, CUstream stream, std::uint64_t parts, void** arguments);
  void read_places();

  static constexpr std::size_t kPlaces = 1 << 16;

  const DriverApi& driver_;
  CUmodule module_ = nullptr;
  CUfunction fill_ = nullptr;
  CUfunction check_ = nullptr;
  /// One place for each block checked, with the lowest address that differs in it.
  CUdeviceptr places_ = 0;
  std::size_t stale_ = kPlaces;      ///< so many places hold something else than "no difference"
  std::vector<std::uint64_t> tags_;  ///< the blocks' tags, for the places in use
  std::vector<TouchMismatch> found_;
};

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
