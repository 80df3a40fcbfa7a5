#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/option_info.hpp"
#include "trace/trace.hpp"
#include "trace/workload/draws.hpp"
#include "trace/workload/workload_events.hpp"
#include "trace/workload/workload_values.hpp"

namespace memreplay {

struct WorkloadOptions {
  std::uint64_t events = 1'000'000;
  std::uint64_t seed = 1;
  std::string live;  ///< the workload's option of that name, of which the recording does not tell
};

/// How a kind of synthetic trace registers itself (workloads.def).
struct WorkloadInfo {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  std::vector<OptionInfo> options;
  /// What events are for, by tag; the first is empty. None: they have no tags.
  std::vector<std::string_view> texts;
  /// Goes on until the events are full.
  void (*run)(const WorkloadValues&, Draws&, WorkloadEvents&);
};

/// Every registered workload, in the order of workloads.def.
std::span<const WorkloadInfo> workloads();

/// Hands the events of a workload, NAME or NAME:key=value,…, on as they are made, the same for the
/// same options, and gives the recording that they are of: one trace, without events. Memory is
/// bounded by the live blocks. Throws UsageError for an unknown name, key or value.
Recording generate(const std::string& workload, const WorkloadOptions& options,
                   const TakeEvents& take);

}  // namespace memreplay
