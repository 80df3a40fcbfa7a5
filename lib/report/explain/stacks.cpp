#include <fmt/format.h>

#include "core/gpu_label.hpp"
#include "report/explain/explain.hpp"

namespace memreplay {

std::vector<NamedProfile> to_stacks(const ExplainAnswer& answer) {
  std::vector<NamedProfile> profiles;
  for (const ExplainedDevice& device : answer.devices) {
    const auto& stacks = device.explanation.stacks;
    if (!stacks) continue;
    const bool alone = answer.devices.size() == 1;
    profiles.push_back(
        {alone ? "" : fmt::format("{} {}", device.trace.path, gpu_label(device.trace.gpu)),
         *stacks});
  }
  return profiles;
}

}  // namespace memreplay
