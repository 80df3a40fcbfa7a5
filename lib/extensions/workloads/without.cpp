#include "trace/workloads.hpp"

namespace memreplay {

std::span<const WorkloadInfo> workloads() { return {}; }

}  // namespace memreplay
