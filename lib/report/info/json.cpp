#include "report/info/info.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

/// What only this command is asked for.
void add_remarks(Json& trace_json, const TraceSummary& trace) {
  trace_json["detail"] = trace.detail;
  trace_json["lacks"] = Json(trace.lacks);
  trace_json["why_no_trace"] = text_or_null(trace.why_no_trace);
  Json places = Json::object();
  for (const auto& [reason, place] : trace.first_places) places[reason] = place;
  trace_json["coverage"]["first_places"] = std::move(places);
}

Json selected_json(const SelectedBlocks& selected) {
  Json places = Json::array();
  for (const PlaceSum& sum : selected.places) {
    places.push_back({{"place", sum.place}, {"bytes", sum.bytes}, {"blocks", sum.blocks}});
  }
  return Json{{"blocks", selected.blocks},
              {"bytes", selected.bytes},
              {"smallest_bytes", selected.smallest},
              {"largest_bytes", selected.largest},
              {"peak_live_bytes", selected.peak_live},
              {"peak_event", selected.peak_event},
              {"at_peak_bytes", selected.at_peak},
              {"places", std::move(places)}};
}

}  // namespace

std::string to_json(const InfoAnswer& answer) {
  std::vector<Json> results;
  for (const TraceSummary& trace : answer.traces) {
    Json& result = results.emplace_back(result_json("info", trace, nullptr, Json::array()));
    add_remarks(result["trace"], trace);
    if (trace.selected) result["selected"] = selected_json(*trace.selected);
  }
  return dump_results("info", std::move(results), nullptr);
}

}  // namespace memreplay
