#include <algorithm>

#include "report/diff/diff.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string_view name_of(Op op) {
  switch (op) {
    case Op::allocate:
      return "allocate";
    case Op::free:
      return "free";
    case Op::free_requested:
      return "free_requested";
    case Op::free_completed:
      return "free_completed";
    case Op::empty_cache:
      return "empty_cache";
    case Op::marker:
      return "marker";
    case Op::safe_frontier:
      return "safe_frontier";
    case Op::oom:
      return "oom";
    default:
      return driver_name(op);
  }
}

Json holding_json(const Holding& holding, Op op) {
  return {{"served", is_request(op) ? Json(!holding.refused) : Json(nullptr)},
          {"requested_bytes", holding.requested},
          {"allocated_bytes", holding.allocated},
          {"reserved_bytes", holding.reserved},
          {"free_bytes", holding.free},
          {"largest_free_bytes", holding.largest_free},
          {"device_calls", holding.device_calls}};
}

Json parting_json(const StrategiesAnswer& answer, const Parting* parting) {
  if (parting == nullptr) return nullptr;
  return {{"event", parting->event},
          {"op", name_of(parting->op)},
          {"step", parting->step == 0 ? Json(nullptr) : Json(parting->step)},
          {"requested_bytes", parting->size == 0 ? Json(nullptr) : Json(parting->size)},
          {"stream", parting->stream < answer.streams.size() ? Json(answer.streams[parting->stream])
                                                             : Json(nullptr)},
          {"place", text_or_null(parting->place)},
          {"a", holding_json(parting->holds[0], parting->op)},
          {"b", holding_json(parting->holds[1], parting->op)}};
}

template <typename T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

Json lead_json(const StrategiesAnswer& answer) {
  if (!answer.diff.lead) return nullptr;
  const Lead& lead = *answer.diff.lead;
  Json json = parting_json(answer, &lead.furthest);
  json["difference_bytes"] = lead.difference();
  json["more"] = lead.more == 0 ? "a" : "b";
  json["from"] = lead.from;
  json["to"] = lead.to;
  return json;
}

std::vector<std::string> row(const char* what, std::string event, const Run& run,
                             const Holding& holding) {
  return {what,
          std::move(event),
          run.strategy,
          std::to_string(holding.requested),
          std::to_string(holding.allocated),
          std::to_string(holding.reserved),
          std::to_string(holding.free),
          std::to_string(holding.largest_free),
          std::to_string(holding.device_calls)};
}

}  // namespace

std::string to_json(const StrategiesAnswer& answer) {
  const StrategiesDiff& diff = answer.diff;
  Json runs = Json::array();
  for (const Run& run : answer.diff.runs) runs.push_back(run_json(run));
  Json json = result_json("diff", answer.trace, device_json(answer.device), std::move(runs));
  json["finished"] = diff.finished;
  json["first_difference"] = parting_json(answer, diff.first());
  json["first_reserved_difference"] = parting_json(answer, pointer(diff.reserved));
  json["first_device_call_difference"] = parting_json(answer, pointer(diff.device_calls));
  json["first_served_difference"] = parting_json(answer, pointer(diff.served));
  json["first_allocated_difference"] = or_null(diff.allocated_from);
  json["largest_difference"] = lead_json(answer);
  json["events_a_reserves_more"] = diff.events_a_more;
  json["events_b_reserves_more"] = diff.events_b_more;
  json["model_check"] = answer.model_check ? verify_run_json(*answer.model_check) : Json(nullptr);
  return dump(json);
}

Table to_table(const StrategiesAnswer& answer) {
  Table table{{{"moment", true},
               {"event"},
               {"strategy", true},
               {"requested_bytes"},
               {"allocated_bytes"},
               {"reserved_bytes"},
               {"free_bytes"},
               {"largest_free_bytes"},
               {"device_calls"}},
              {}};
  const StrategiesDiff& diff = answer.diff;
  const auto add = [&](const char* what, const Parting* parting) {
    if (parting == nullptr) return;
    for (std::size_t side = 0; side < 2; ++side) {
      table.rows.push_back(
          row(what, std::to_string(parting->event), answer.diff.runs[side], parting->holds[side]));
    }
  };
  add("first difference", diff.first());
  add("first reserved difference", pointer(diff.reserved));
  add("first device call difference", pointer(diff.device_calls));
  add("first served difference", pointer(diff.served));
  if (diff.lead) add("largest difference", &diff.lead->furthest);
  for (const Run& run : answer.diff.runs) {
    table.rows.push_back({"peaks", "", run.strategy, std::to_string(run.metrics.peak_requested),
                          std::to_string(run.metrics.peak_allocated),
                          std::to_string(run.metrics.peak_reserved), "", "",
                          std::to_string(run.device_calls())});
  }
  return table;
}

}  // namespace memreplay
