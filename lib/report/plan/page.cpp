#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/page/html.hpp"
#include "report/plan/picture.hpp"
#include "report/plan/plan.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kPlanStyle =
    R"(svg path { stroke: #1b1f24; stroke-width: 0.5; vector-effect: non-scaling-stroke; }
svg path:hover { stroke-width: 3; }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); }
.c3 { fill: var(--c3); } .c4 { fill: var(--c4); } .c5 { fill: var(--c5); }
.c6 { fill: var(--c6); } .c7 { fill: var(--c7); }
)";

std::size_t buffers_in(const PlannedDevice& device, std::size_t memory) {
  return device.memories.empty() ? device.buffers.size() : device.memories[memory].buffers;
}

void write_memory(const PlannedDevice& device, std::size_t memory, std::ostream& out) {
  if (!device.memories.empty()) out << html_text("h2", device.memories[memory].name);
  const std::size_t drawn = draw_plan(device, memory, out);
  const std::size_t all = buffers_in(device, memory);
  if (all == 0) out << html_text("p", "Nothing lies here.", "quiet");
  if (drawn == all) return;
  out << html_text("p", fmt::format("Drawn are {} of {} buffers, those with most bytes times life.",
                                    human_count(drawn), human_count(all)));
}

}  // namespace

void write_page(const PlanAnswer& answer, std::ostream& out) {
  const std::string title = answer.devices.empty() ? "" : answer.devices.front().trace.path;
  out << page_beginning("plan of " + title, kPlanStyle, "How small it could be")
      << html_text("pre", to_text(answer, {}));
  for (const PlannedDevice& device : answer.devices) {
    if (!device.height) continue;
    if (answer.devices.size() > 1) {
      out << html_text("h2", fmt::format("{} gpu {}", device.trace.path, device.trace.gpu));
    }
    for (std::size_t memory = 0; memory < std::max<std::size_t>(1, device.memories.size());
         ++memory) {
      write_memory(device, memory, out);
    }
  }
  out << kPageEnd;
}

}  // namespace memreplay
