#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/find/find.hpp"
#include "report/find/phrases.hpp"
#include "report/find/picture.hpp"
#include "report/page/html.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kFindStyle =
    R"(svg text { font-size: 15px; fill: currentColor; paint-order: stroke; stroke: Canvas;
  stroke-width: 4px; }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .strong { font-weight: bold; }
.grid { stroke: currentColor; opacity: 0.2; }
.line { fill: none; stroke-width: 2; }
.requested { stroke: currentColor; stroke-dasharray: 2 4; }
.allocated { stroke: currentColor; opacity: 0.6; }
.s0 { --line: var(--c4); } .s1 { --line: var(--c5); } .s2 { --line: var(--c2); }
.s3 { --line: var(--c6); } .s4 { --line: var(--c1); }
@media (prefers-color-scheme: dark) { .s0 { --line: var(--c0); } }
.s0, .s1, .s2, .s3, .s4 { stroke: var(--line); }
.dashed { stroke-dasharray: 10 3; }
.band { stroke: none; fill: var(--line); opacity: 0.2; }
.point { fill: Canvas; stroke-width: 2; stroke-dasharray: none; }
.recorded { fill: var(--line, currentColor); }
.key .point { stroke: currentColor; }
.ring { fill: none; stroke-width: 2; stroke-dasharray: none; }
.lead { stroke: currentColor; stroke-dasharray: 2 3; opacity: 0.6; }
.legend { display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; padding: 0; list-style: none; }
.key { width: 28px; height: 12px; border: none; margin-right: 0.5rem; overflow: visible; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: bold; }
th, td { padding: 0.1rem 1rem 0.1rem 0; text-align: right; }
th { border-bottom: 1px solid #8c959f; }
.left { text-align: left; }
.scrolls-wide { overflow-x: auto; }
)";

/// One span for each device; its values stand side by side.
std::vector<std::span<const FoundValue>> by_device(const std::vector<FoundValue>& found) {
  std::vector<std::span<const FoundValue>> devices;
  for (std::size_t from = 0, to = 0; from < found.size(); from = to) {
    const auto same = [&](const FoundValue& other) {
      return device_with_room(other.device) == device_with_room(found[from].device);
    };
    while (to < found.size() && same(found[to])) ++to;
    devices.emplace_back(found.data() + from, to - from);
  }
  return devices;
}

void write_sentences(const std::vector<std::string>& sentences, std::ostream& out) {
  for (const std::string& sentence : sentences) out << html_text("p", sentence);
}

}  // namespace

void write_page(const FindAnswer& answer, std::ostream& out) {
  const std::string& name = answer.facts.name;
  const std::string heading = fmt::format("The largest {} that fits", name);
  out << page_beginning(heading, kFindStyle, heading);
  write_sentences(found_sentences(answer), out);
  const auto devices = by_device(answer.found);
  for (const std::span<const FoundValue> device : devices) {
    if (devices.size() > 1) out << html_text("h2", device_name(device.front().device));
    draw_curves(device, name, out);
  }
  out << html_text("p", "Lines join what was computed; between the points nothing was.", "quiet");
  if (answer.found.size() > 1) {
    out << html_table(largest_table(answer), "For each strategy on each device");
  }
  for (const FoundValue& found : answer.found) {
    out << html_table(curve_table(found, answer.facts), found_name(found));
  }
  if (!answer.held_back.empty()) {
    out << html_table(held_back_table(answer), held_back_sentence(answer));
  }
  write_sentences(closing_sentences(answer), out);
  out << kPageEnd;
}

}  // namespace memreplay
