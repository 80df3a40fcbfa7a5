#include "trace/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/workload/random.hpp"

namespace memreplay {

std::span<const WorkloadInfo> workloads() {
  static constexpr std::array kWorkloads = {WorkloadInfo{
      "random", "Requests of 512 B to 64 MiB, and frees of any live block, in no order",
      make_random_workload}};
  return kWorkloads;
}

Recording generate(const std::string& name, const WorkloadOptions& options,
                   const TakeEvents& take) {
  const auto found = std::ranges::find(workloads(), name, &WorkloadInfo::name);
  if (found == workloads().end()) {
    std::vector<std::string> known;
    for (const WorkloadInfo& info : workloads()) known.emplace_back(info.name);
    throw UsageError("unknown workload '" + name + "'" + did_you_mean(name, known) +
                     " (memreplay list workloads)");
  }
  Recording recording;
  recording.path = name;
  recording.format = "generated";
  recording.detail = "generated: " + name + ", seed " + std::to_string(options.seed);
  recording.texts = {""};
  recording.stacks = {{}};
  Trace& trace = recording.traces.emplace_back();
  trace.lanes = {{}};
  trace.streams = {0};
  trace.pools = {{}};
  trace.slot_count = found->make(options, take);
  return recording;
}

}  // namespace memreplay
