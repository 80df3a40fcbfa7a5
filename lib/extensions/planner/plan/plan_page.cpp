#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text.hpp"
#include "extensions/planner/plan/plan_report.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/html.hpp"

namespace memreplay {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 560;
constexpr std::size_t kPlanColours = 8;

double length_of(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to) - static_cast<double>(from);
}

/// Numbers of the units of the picture, a tenth is a pixel's part.
class PlanCanvas {
 public:
  PlanCanvas(std::int64_t from, std::int64_t to, Bytes height)
      : from_(from),
        per_time_(kWidth / std::max(1.0, length_of(from, to))),
        per_byte_(kHeight / static_cast<double>(std::max<Bytes>(1, height))) {}

  /// A path around [from, to) by [low, high).
  std::string rectangle(std::int64_t from, std::int64_t to, Bytes low, Bytes high) const {
    return fmt::format("M{:.2f} {:.2f}H{:.2f}V{:.2f}H{:.2f}z", x(from), y(high), x(to), y(low),
                       x(from));
  }
  double y(Bytes address) const { return kHeight - static_cast<double>(address) * per_byte_; }

 private:
  double x(std::int64_t time) const { return length_of(from_, time) * per_time_; }

  std::int64_t from_;
  double per_time_;
  double per_byte_;
};

/// Its bytes in use, in the parts of its life between gaps.
std::string outline(const PlannedBuffer& buffer, const PlanCanvas& canvas) {
  std::string path;
  std::int64_t from = buffer.lower;
  const auto add = [&](std::int64_t to, Bytes low, Bytes high) {
    if (from < to && low < high) {
      path += canvas.rectangle(from, to, buffer.offset + low, buffer.offset + high);
    }
    from = to;
  };
  for (const PlannedGap& gap : buffer.gaps) {
    add(gap.from, 0, buffer.size);
    add(gap.to, gap.low, gap.high);
  }
  add(buffer.upper, 0, buffer.size);
  return path;
}

std::vector<std::size_t> buffers_drawn(const PlannedDevice& device, std::size_t memory) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < device.buffers.size(); ++row) {
    if (device.buffers[row].memory == memory) rows.push_back(row);
  }
  if (rows.size() <= kMostBuffersDrawn) return rows;
  const auto area = [&](std::size_t row) {
    const PlannedBuffer& buffer = device.buffers[row];
    return static_cast<double>(buffer.size) * length_of(buffer.lower, buffer.upper);
  };
  std::ranges::stable_sort(rows, std::ranges::greater(), area);
  rows.resize(kMostBuffersDrawn);
  std::ranges::sort(rows);
  return rows;
}

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
  if (all == 0) out << html_text("p", "There are no buffers.", "quiet");
  if (drawn == all) return;
  out << html_text(
      "p", fmt::format("This picture shows {} of {} buffers, those with most bytes times lifetime.",
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

std::size_t draw_plan(const PlannedDevice& device, std::size_t memory, std::ostream& out) {
  const std::vector<std::size_t> rows = buffers_drawn(device, memory);
  if (rows.empty()) return 0;
  const auto lower = [&](std::size_t row) { return device.buffers[row].lower; };
  const auto upper = [&](std::size_t row) { return device.buffers[row].upper; };
  const std::int64_t from = lower(*std::ranges::min_element(rows, {}, lower));
  const std::int64_t to = upper(*std::ranges::max_element(rows, {}, upper));
  const Bytes height = device.memories.empty() ? *device.height : device.memories[memory].height;
  const PlanCanvas canvas(from, to, height);
  out << fmt::format("<svg viewBox=\"-1 -1 {} {}\" role=\"img\" aria-label=\"time by address\">\n",
                     kWidth + 2, kHeight + 2);
  for (const std::size_t row : rows) {
    const PlannedBuffer& buffer = device.buffers[row];
    out << fmt::format(
        "<path class=\"c{}\" d=\"{}\"><title>{}: {} at {}, [{}, {})</title></path>\n",
        row % kPlanColours, outline(buffer, canvas), markup_text(buffer.name),
        exact_size(buffer.size), buffer.offset, buffer.lower, buffer.upper);
  }
  if (device.memories.empty() && device.lower_bound < height) {
    out << fmt::format(
        "<path class=\"bound\" d=\"M0 {0:.2f}H{1}\"><title>lower bound {2}</title></path>\n",
        canvas.y(device.lower_bound), kWidth, exact_size(device.lower_bound));
  }
  out << "</svg>\n";
  const char* unit = device.in_events ? "event" : "time";
  out << html_text("p",
                   fmt::format("Left to right: {0} {1} to {0} {2}. Upwards: 0 to {3}.", unit, from,
                               to, exact_size(height)),
                   "quiet");
  return rows.size();
}

}  // namespace memreplay
