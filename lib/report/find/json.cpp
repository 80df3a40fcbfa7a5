#include "report/find/find.hpp"
#include "report/formats/format.hpp"
#include "report/parts/edits.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/prediction.hpp"

namespace memreplay {
namespace {

Json tried_json(const ValueTried& tried) {
  return {{"value", tried.value},
          {"recorded", tried.recorded},
          {"fits", tried.fits},
          {"may_fit", tried.may_fit},
          {"peak_requested_bytes", tried.peak_requested},
          {"peak_allocated_bytes", tried.peak_allocated},
          {"peak_reserved_bytes", tried.peak_reserved},
          {"interval", interval_json(tried.interval)},
          {"oom_retries", tried.fits ? Json(tried.oom_retries) : Json(nullptr)}};
}

Json found_json(const FoundValue& found) {
  Json values = Json::array();
  for (const ValueTried& tried : found.tried) values.push_back(tried_json(tried));
  return {{"strategy", found.strategy},
          {"device", device_json(found.device)},
          {"largest_value", or_null(found.largest)},
          {"largest_value_that_may_fit", or_null(found.may_fit)},
          {"unbounded", found.unbounded},
          {"interrupted", found.interrupted},
          {"fails_below", or_null(found.fails_below)},
          {"values", std::move(values)}};
}

}  // namespace

std::string to_json(const FindAnswer& answer) {
  Json json = head_json("fit");
  json["parameter"] = answer.facts.name;
  json["runs"] = Json::array();
  for (const FoundValue& found : answer.found) json["runs"].push_back(found_json(found));
  json["held_back"] = Json::array();
  for (const HeldBack& held : answer.held_back) {
    json["held_back"].push_back({{"value", held.value},
                                 {"peak_requested_bytes", held.requested},
                                 {"predicted_requested_bytes", held.requested_predicted},
                                 {"peak_reserved_bytes", held.reserved},
                                 {"predicted_reserved_bytes", held.reserved_predicted}});
  }
  json["held_by_others_bytes"] = answer.reserve;
  json["predicted"] = prediction_json(answer.facts);
  if (!answer.edits.empty()) json["edits"] = edits_json(answer.edits);
  return dump(json);
}

Table to_table(const FindAnswer& answer) {
  Table table{{{"strategy", true},
               {"device", true},
               {answer.facts.name},
               {"fits"},
               {"recorded"},
               {"peak_requested_bytes"},
               {"peak_allocated_bytes"},
               {"peak_reserved_bytes"},
               {"oom_retries"}},
              {}};
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  for (const FoundValue& found : answer.found) {
    const DeviceSummary& device = found.device;
    for (const ValueTried& tried : found.tried) {
      table.rows.push_back(
          {found.strategy,
           device.name.value_or(device.capacity ? std::to_string(*device.capacity) : device.text),
           std::to_string(tried.value), truth(tried.fits), truth(tried.recorded),
           std::to_string(tried.peak_requested), std::to_string(tried.peak_allocated),
           std::to_string(tried.peak_reserved),
           tried.fits ? std::to_string(tried.oom_retries) : ""});
    }
  }
  return table;
}

std::string to_markdown(const FindAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
