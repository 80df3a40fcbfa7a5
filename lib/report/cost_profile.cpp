#include "report/cost_profile.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/json_node.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/table.hpp"
#include "report/run/real.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kSchema = "memreplay-profile/1";

std::array<std::pair<const char*, const CalibratedCall*>, 4> calls_of(const Calibration& c) {
  return {{{"alloc", &c.alloc}, {"free", &c.free}, {"map", &c.map}, {"unmap", &c.unmap}}};
}

double milliseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

Json size_json(const SizedTimes& size) {
  const Durations& times = size.times;
  return Json{{"bytes", size.bytes},
              {"count", times.count()},
              {"mean_ms", milliseconds(times.sum()) / static_cast<double>(times.count())},
              {"p50_ms", milliseconds(times.quantile(0.5))},
              {"p99_ms", milliseconds(times.quantile(0.99))},
              {"max_ms", milliseconds(times.largest())}};
}

CostCurve curve_of(const JsonNode& call) {
  call.expect_object({"sizes", "waits_for_device"});
  std::vector<CostPoint> points;
  for (const JsonNode& size : call.at("sizes").elements()) {
    size.expect_object({"bytes", "count", "mean_ms", "p50_ms", "p99_ms", "max_ms"});
    const CostPoint point{size.at("bytes").whole(), size.at("p50_ms").number()};
    if (!points.empty() && point.bytes <= points.back().bytes) {
      size.at("bytes").refuse("more than in the entry before");
    }
    points.push_back(point);
  }
  return points.empty() ? CostCurve(0.0) : CostCurve(std::move(points));
}

void add_waits(std::string& text, std::string_view verb, const Calibration& calibration,
               std::optional<bool> answer) {
  std::string names;
  for (const auto& [name, call] : calls_of(calibration)) {
    if (call->waits == answer && !call->sizes.empty()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
  }
  if (!names.empty()) text += fmt::format(" {}: {}.\n", verb, names);
}

}  // namespace

std::string cost_profile_text(const RealMemoryFacts& device, const Calibration& calibration) {
  Json json{{"schema", kSchema},
            {"device",
             {{"kind", device.kind},
              {"name", device.name},
              {"total_bytes", device.total},
              {"granularity_bytes", device.granularity}}},
            {"calls", Json::object()}};
  for (const auto& [name, call] : calls_of(calibration)) {
    Json sizes = Json::array();
    for (const SizedTimes& size : call->sizes) sizes.push_back(size_json(size));
    json["calls"][name] = {{"waits_for_device", or_null(call->waits)}, {"sizes", sizes}};
  }
  return dump(json);
}

CostModel read_cost_profile(const std::string& path) {
  return parse_cost_profile(path, text_of_file(path));
}

CostModel parse_cost_profile(const std::string& path, const std::string& text) {
  const auto json = parse_json(path, text, "a profile as calibrate writes it");
  const JsonNode root(path, "", *json);
  root.expect_object({"schema", "device", "calls"});
  if (root.at("schema").text() != kSchema) {
    root.at("schema").refuse(fmt::format("\"{}\"", kSchema));
  }
  const JsonNode calls = root.at("calls");
  calls.expect_object({"alloc", "free", "map", "unmap"});
  return {curve_of(calls.at("alloc")), curve_of(calls.at("free")), curve_of(calls.at("map")),
          curve_of(calls.at("unmap"))};
}

std::string calibration_text(const RealMemoryFacts& device, const Calibration& calibration) {
  Table table;
  table.columns = {{"call", true}, {"size"}, {"count"}, {"mean"}, {"p50"}, {"p99"}, {"max"}};
  for (const auto& [name, call] : calls_of(calibration)) {
    for (const SizedTimes& size : call->sizes) {
      const Durations& times = size.times;
      table.rows.push_back({name, human_size(size.bytes), human_count(times.count()),
                            mean_text(times), quantile_text(times, 0.5), quantile_text(times, 0.99),
                            quantile_text(times, 1)});
    }
  }
  std::string text =
      fmt::format(" {}, {}, granularity {}\n\n{}\n", device.name, human_size(device.total),
                  human_size(device.granularity), text_table(table));
  add_waits(text, "Waits for the work of the device", calibration, true);
  add_waits(text, "Returns while it goes on", calibration, false);
  add_waits(text, "Whether it waits cannot be told, for by then the device has no work left",
            calibration, std::nullopt);
  return text;
}

}  // namespace memreplay
