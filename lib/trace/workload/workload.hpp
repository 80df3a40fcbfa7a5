#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "trace/trace.hpp"

namespace memreplay {

struct WorkloadOptions {
  std::uint64_t events = 1'000'000;
  std::uint64_t live = 5'000;  ///< blocks at once, about; at least 1
  std::uint64_t seed = 1;
};

using TakeEvents = std::function<void(const EventColumns&)>;

/// A kind of synthetic trace.
struct WorkloadInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  /// Hands the events on, so many at a time; gives the number of slots that they need.
  Slot (*make)(const WorkloadOptions&, const TakeEvents&);
};

std::span<const WorkloadInfo> workloads();

/// Hands the events of a workload on as they are made, the same for the same options, and gives the
/// recording that they are of: one trace, without events. Memory is bounded by the live blocks.
/// Throws UsageError for an unknown name.
Recording generate(const std::string& name, const WorkloadOptions& options, const TakeEvents& take);

}  // namespace memreplay
