#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/option_info.hpp"

namespace memreplay {

class Draws;
class WorkloadEvents;
class WorkloadValues;

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

/// Every registered workload, in the order of workloads.def; none where the extension is not built.
std::span<const WorkloadInfo> workloads();

}  // namespace memreplay
