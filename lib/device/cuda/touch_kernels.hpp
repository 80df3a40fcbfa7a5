#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cuda/driver_api.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

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

}  // namespace memreplay
