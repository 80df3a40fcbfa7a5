#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/page/html.hpp"
#include "report/plan/picture.hpp"
#include "report/plan/plan.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kPlanPageHead =
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 sans-serif; max-width: 75rem; margin: 1rem auto; padding: 0 1rem; }
svg { width: 100%; border: 1px solid #8c959f; }
svg path { stroke: #1b1f24; stroke-width: 0.5; vector-effect: non-scaling-stroke; }
svg path:hover { stroke-width: 3; }
.bound { stroke: #b00020; stroke-width: 2; stroke-dasharray: 8 4; }
.quiet { opacity: 0.75; }
.c0 { fill: #56b4e9; } .c1 { fill: #e69f00; } .c2 { fill: #009e73; } .c3 { fill: #f0e442; }
.c4 { fill: #0072b2; } .c5 { fill: #d55e00; } .c6 { fill: #cc79a7; } .c7 { fill: #b0b8c1; }
</style>
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
  out << kPlanPageHead << html_text("title", "plan of " + title)
      << "</head>\n<body>\n<h1>How small it could be</h1>\n"
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
  out << "</body>\n</html>\n";
}

}  // namespace memreplay
