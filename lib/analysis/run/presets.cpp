#include "analysis/run/presets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "verify/subject.hpp"

namespace memreplay {

std::vector<StrategySpec> presets(const Recording& recording, std::optional<Bytes> device_room) {
  if (recording.format == kPinnedHostFormat) {
    return {usual_strategy(recording), parse_strategy("pinned-buddy"), parse_strategy("direct"),
            parse_strategy("buddy"), parse_strategy("plan:order=best")};
  }
  std::vector<std::string> names;
  if (recording.settings.known()) names.emplace_back("recorded");
  for (const char* name :
       {"torch", "torch:expandable_segments=True", "bfc", "direct", "rmm-pool"}) {
    names.emplace_back(name);
  }
  if (device_room) {
    // In whole granules of RMM, and only where they are large enough for it.
    const Bytes room = *device_room / 256 * 256;
    if (room > 0) names.push_back(fmt::format("rmm-pool:maximum={}", room));
    if (room >= kMiB) names.push_back(fmt::format("rmm-arena:arena_size={}", room));
  } else {
    names.emplace_back("rmm-arena:arena_size=fit");
  }
  for (const char* name :
       {"rmm-binning", "cuda-async:threshold=0", "cuda-async:threshold=max", "buddy", "size-class",
        "tcmalloc", "hoard", "cub", "cub:bin_growth=2,min_bin=9,max_bin=27,max_cached=none",
        "gmlake:frag_limit=256MiB", "stalloc", "plan:order=size", "plan:order=best"}) {
    names.emplace_back(name);
  }
  std::vector<StrategySpec> specs;
  for (const std::string& name : names) specs.push_back(parse_strategy(name));
  return specs;
}

std::vector<StrategySpec> page_presets(const Recording& recording) {
  if (recording.format == kPinnedHostFormat) {
    return {usual_strategy(recording), parse_strategy("pinned-buddy"), parse_strategy("direct")};
  }
  return {usual_strategy(recording), parse_strategy("torch:expandable_segments=True"),
          parse_strategy("bfc")};
}

}  // namespace memreplay
