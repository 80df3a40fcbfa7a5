#include "trace/workload/workload.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {

#define MEMREPLAY_WORKLOAD(identifier, file) WorkloadInfo identifier##_workload();
#include "trace/workload/workloads.def"
#undef MEMREPLAY_WORKLOAD

namespace {

const WorkloadInfo& workload_named(const std::string& name) {
  const auto found = std::ranges::find(workloads(), name, &WorkloadInfo::name);
  if (found != workloads().end()) return *found;
  std::vector<std::string> known;
  for (const WorkloadInfo& info : workloads()) known.emplace_back(info.name);
  throw UsageError("unknown workload '" + name + "'" + did_you_mean(name, known) +
                   " (memreplay list workloads)");
}

}  // namespace

std::span<const WorkloadInfo> workloads() {
  static const std::array kWorkloads = {
#define MEMREPLAY_WORKLOAD(identifier, file) identifier##_workload(),
#include "trace/workload/workloads.def"
#undef MEMREPLAY_WORKLOAD
  };
  return kWorkloads;
}

Recording generate(const std::string& workload, const WorkloadOptions& options,
                   const TakeEvents& take) {
  const std::size_t colon = std::min(workload.find(':'), workload.size());
  const WorkloadInfo& info = workload_named(workload.substr(0, colon));
  std::string given = workload.substr(std::min(colon + 1, workload.size()));
  if (!options.live.empty()) given += (given.empty() ? "live=" : ",live=") + options.live;
  const WorkloadValues values(info.name, info.options, given);
  Recording recording;
  recording.path = workload;
  recording.format = "generated";
  recording.detail = "generated: " + workload + ", seed " + std::to_string(options.seed);
  recording.texts.assign(info.texts.begin(), info.texts.end());
  if (recording.texts.empty()) recording.texts = {""};
  recording.stacks = {{}};
  Trace& trace = recording.traces.emplace_back();
  trace.lanes = {{}};
  trace.streams = {0};
  trace.pools = {{}};
  Draws draws(options.seed);
  WorkloadEvents events(options.events, !info.texts.empty(), take);
  info.run(values, draws, events);
  trace.slot_count = events.finish();
  return recording;
}

}  // namespace memreplay
