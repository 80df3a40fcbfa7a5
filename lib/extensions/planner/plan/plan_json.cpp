#include <algorithm>

#include "extensions/planner/plan/plan_report.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::vector<Run> runs_of(const PlannedDevice& device) {
  if (!device.run) return {};
  return {*device.run};
}

std::vector<std::string_view> unplaced(const PlannedDevice& device) {
  std::vector<std::string_view> names;
  for (const std::size_t row : device.cannot) names.push_back(device.buffers[row].name);
  return names;
}

Json highest_of(const std::vector<PlannedDevice>& devices) {
  const auto height = [](const PlannedDevice& device) {
    return device.fits() ? device.height.value_or(0) : UINT64_MAX;
  };
  const auto worst = std::ranges::max_element(devices, {}, height);
  return worst == devices.end() ? Json(nullptr) : Json(worst - devices.begin());
}

}  // namespace

void fields(JsonFields& f, const PlannedStep& step) {
  f("requests", step.requests, "in a step");
  f("steps", step.steps, "whole ones, one after the other");
  f("share", step.share, "requests that repeat, as a share of all");
  f("lower_bound_bytes", step.lower_bound, "no plan of such steps is lower");
  f("height_bytes", step.height, "of a plan for every step; null: lifetimes differ");
}

void fields(JsonFields& f, const PlannedDevice& device) {
  result_fields(f, "plan", device.trace, nullptr, runs_of(device));
  f("capacity_bytes", device.capacity, "that was asked for");
  const auto memory = [&](JsonFields& memories, const FilledMemory& filled) {
    memories("name", filled.name, "as given");
    memories("capacity_bytes", filled.capacity, "as given");
    memories("height_bytes", only_if(device.height.has_value(), filled.height),
             "of the plan in it");
    memories("buffers", filled.buffers, "blocks placed in it");
  };
  f("memories", each(device.memories, memory), "where several are filled");
  f("alignment_bytes", device.alignment, "for every size and offset");
  f("buffers", device.buffers.size(), "blocks to place");
  f("left_out", device.left_out, "requests too large for any device");
  f("lower_bound_bytes", device.lower_bound, "no plan is lower");
  f("height_bytes", device.height, "of the plan; null: there is none");
  bound_field(f, device.trace.early_end.has_value());
  f("optimal", device.optimal(), "the height is the lower bound");
  f("impossible", device.impossible, "proved: no plan fits");
  f("solver", unless_empty(device.found_by), "what found the plan");
  f("nodes", device.nodes, "visited by the exact search");
  f("seconds", device.seconds, "how long it took");
  f("placements", unless_empty(device.placements), "the file they are written to");
  f("cannot_be_placed", unplaced(device), "blocks that do not fit together");
  f("repeated_step", device.step, "where the recording repeats itself");
  f("each_needed", device.each_needed, "without any one of those the others fit");
}

std::string to_json(const PlanAnswer& answer) {
  return dump_each("plan", answer.devices, highest_of(answer.devices));
}

void plan_documents(Documents& documents) { documents.add_results<PlannedDevice>("plan"); }

}  // namespace memreplay
