#include <fmt/format.h>

#include "core/text.hpp"
#include "extensions/calibrate/calibrate_report.hpp"
#include "questions/replay/sections.hpp"
#include "report/parts/table.hpp"

namespace memreplay {
namespace {

void add_waits(std::string& text, std::string_view verb, const Calibration& calibration,
               std::optional<bool> waits) {
  std::string names;
  for (const auto& [name, call] : calibration.calls()) {
    if (call->waits == waits && !call->sizes.empty()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
  }
  if (!names.empty()) text += fmt::format(" {}: {}.\n", verb, names);
}

}  // namespace

std::string to_text(const CalibrateAnswer& answer, const TextStyle& style) {
  const auto& [device, calibration] = answer;
  Table table{{left("call"), "size", "count", "mean", "p50", "p99", "max"}};
  for (const auto& [name, call] : calibration.calls()) {
    for (const SizedTimes& size : call->sizes) {
      const Durations& times = size.times;
      table.add(name, human_size(size.bytes), human_count(times.count()), mean_text(times),
                quantile_text(times, 0.5), quantile_text(times, 0.99), quantile_text(times, 1));
    }
  }
  std::string text =
      fmt::format(" {}, {}, granularity {}\n\n{}\n", device.name, human_size(device.total),
                  human_size(device.granularity), text_table(table, style.width));
  add_waits(text, "Waits for the work of the device", calibration, true);
  add_waits(text, "Returns while it goes on", calibration, false);
  add_waits(text, "Whether it waits cannot be told, for by then the device has no work left",
            calibration, std::nullopt);
  return text;
}

}  // namespace memreplay
