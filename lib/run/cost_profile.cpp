#include "run/cost_profile.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "device/cost_model.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

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

}  // namespace

CostModel read_cost_profile(const std::string& path) {
  return parse_cost_profile(path, text_of_file(path));
}

CostModel parse_cost_profile(const std::string& path, const std::string& text) {
  const auto json = parse_json(path, text, "a profile as calibrate writes it");
  const JsonNode root(path, "", *json);
  root.expect_object({"schema", "device", "calls"});
  if (root.at("schema").text() != kProfileSchema) {
    root.at("schema").refuse(fmt::format("\"{}\"", kProfileSchema));
  }
  const JsonNode calls = root.at("calls");
  calls.expect_object({"alloc", "free", "map", "unmap"});
  return {curve_of(calls.at("alloc")), curve_of(calls.at("free")), curve_of(calls.at("map")),
          curve_of(calls.at("unmap"))};
}

}  // namespace memreplay
