#pragma once

#include "device/device_model.hpp"

namespace memreplay {

/// What a call to the driver costs, in milliseconds. The defaults are those of cudaMalloc and
/// cudaFree in the course that this project began with.
struct CostModel {
  double alloc_ms = 1.0;
  double free_ms = 0.8;
  double map_ms = 1.0;
  double unmap_ms = 0.8;
};

/// Refused calls cost nothing.
double modelled_seconds(const CostModel& cost, const DeviceUsage& usage);

}  // namespace memreplay
