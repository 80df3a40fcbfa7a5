#include <algorithm>

#include "report/parts/json_parts.hpp"
#include "report/plan/plan.hpp"

namespace memreplay {
namespace {

Json step_json(const PlannedStep& step) {
  return {{"requests", step.requests},
          {"steps", step.steps},
          {"share", step.share},
          {"lower_bound_bytes", step.lower_bound},
          {"height_bytes", or_null(step.height)}};
}

Json memories_json(const PlannedDevice& device) {
  Json memories = Json::array();
  for (const FilledMemory& memory : device.memories) {
    memories.push_back({{"name", memory.name},
                        {"capacity_bytes", memory.capacity},
                        {"height_bytes", device.height ? Json(memory.height) : Json(nullptr)},
                        {"buffers", memory.buffers}});
  }
  return memories;
}

Json planned_json(const PlannedDevice& device) {
  Json runs = Json::array();
  if (device.run) runs.push_back(run_json(*device.run));
  Json json = result_json("plan", device.trace, nullptr, std::move(runs));
  json["capacity_bytes"] = or_null(device.capacity);
  json["memories"] = memories_json(device);
  json["alignment_bytes"] = device.alignment;
  json["buffers"] = device.buffers.size();
  json["left_out"] = device.left_out;
  json["lower_bound_bytes"] = device.lower_bound;
  json["height_bytes"] = or_null(device.height);
  json["bound"] = bound_json(device.trace.early_end.has_value());
  json["optimal"] = device.optimal();
  json["impossible"] = device.impossible;
  json["solver"] = text_or_null(device.found_by);
  json["nodes"] = device.nodes;
  json["seconds"] = device.seconds;
  json["placements"] = text_or_null(device.placements);
  json["cannot_be_placed"] = Json::array();
  for (const std::size_t row : device.cannot) {
    json["cannot_be_placed"].push_back(device.buffers[row].name);
  }
  json["repeated_step"] = device.step ? step_json(*device.step) : Json(nullptr);
  json["each_needed"] = device.each_needed;
  return json;
}

Json highest_of(const std::vector<PlannedDevice>& devices) {
  const auto height = [](const PlannedDevice& device) {
    return device.fits() ? device.height.value_or(0) : UINT64_MAX;
  };
  const auto worst = std::ranges::max_element(devices, {}, height);
  return worst == devices.end() ? Json(nullptr) : Json(worst - devices.begin());
}

}  // namespace

std::string to_json(const PlanAnswer& answer) {
  std::vector<Json> results;
  for (const PlannedDevice& device : answer.devices) results.push_back(planned_json(device));
  return dump_results("plan", std::move(results), highest_of(answer.devices));
}

}  // namespace memreplay
