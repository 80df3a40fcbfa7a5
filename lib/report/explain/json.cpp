#include "report/explain/explain.hpp"
#include "report/explain/growth.hpp"
#include "report/explain/messages.hpp"
#include "report/explain/phrases.hpp"
#include "report/explain/tree.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string_view name_of(Explanation::Moment moment) {
  constexpr std::string_view kNames[] = {"oom", "peak", "reserved-peak", "event", "end"};
  return kNames[static_cast<std::size_t>(moment)];
}

Json peak_json(const Peak& peak) {
  return {{"event", or_null(peak.event)},
          {"live_requested_bytes", peak.requested},
          {"reserved_bytes", peak.reserved}};
}

Json addresses_json(const std::optional<AddressUse>& use) {
  if (!use) return nullptr;
  return {{"reservations", use->reservations}, {"streams", use->streams},
          {"reserved_bytes", use->reserved},   {"needed_bytes", or_null(use->needed)},
          {"limit_bytes", use->limit},         {"device_is_known", !use->at_least}};
}

Json phase_json(const PhasePeak& phase) {
  Json json = {{"name", phase.name},
               {"depth", phase.depth},
               {"times", phase.times},
               {"peak_requested_bytes", phase.peak_requested},
               {"peak_event", phase.peak_event},
               {"peak_reserved_bytes", phase.peak_reserved}};
  const auto at_peak = [&](const char* key, auto value) {
    json[key] = phase.use ? Json(value(*phase.use)) : Json(nullptr);
  };
  at_peak("reserved_at_peak_bytes", [](const PhaseUse& use) { return use.reserved; });
  at_peak("allocated_at_peak_bytes", [](const PhaseUse& use) { return use.allocated; });
  at_peak("waste_bytes", [](const PhaseUse& use) { return use.waste(); });
  at_peak("place", [](const PhaseUse& use) { return text_or_null(use.most.place); });
  at_peak("place_bytes", [](const PhaseUse& use) { return use.most.bytes; });
  return json;
}

Json explanation_json(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  Json json;
  json["verdict"] = name_of(e.cause);
  json["in_effect"] = e.in_effect;
  json["state_beyond_device"] = state_beyond_json(device.state_beyond);
  json["too_much"] = request_in_room_json(e.too_much);
  json["event"] = or_null(e.event);
  json["moment"] = name_of(e.moment);
  json["sentence"] = verdict_sentence(device);
  json["strategy"] = text_or_null(device.strategy);
  json["at_oom"] = e.at_oom;
  json["step"] = e.step > 0 ? Json(e.step) : Json(nullptr);
  json["stream"] =
      e.stream < device.streams.size() ? Json(device.streams[e.stream]) : Json(nullptr);
  json["place"] = text_or_null(e.place);
  json["requested_bytes"] = e.requested;
  json["asked_of_device_bytes"] = e.asked;
  json["device_bytes"] = or_null(e.total);
  json["usable_bytes"] = or_null(e.room);
  json["spare_bytes"] = e.room ? Json(e.spare()) : Json(nullptr);
  json["device_free_bytes"] = e.at_oom ? Json(e.device_free) : Json(nullptr);
  json["oom_retries"] = e.retries;
  json["live_peak"] = peak_json(e.live_peak);
  json["reserved_peak"] = peak_json(e.reserved_peak);
  json["gap_bytes"] = e.moment == Explanation::Moment::peak ? Json(e.gap()) : Json(nullptr);
  json["live_requested_bytes"] = e.live_requested;
  json["live_allocated_bytes"] = e.live_allocated;
  json["live_blocks"] = e.live_blocks;
  json["pending_bytes"] = e.pending;
  json["reserved_bytes"] = e.reserved;
  json["segments"] = e.segments;
  json["free_inside_bytes"] = e.free_inside;
  json["largest_free_bytes"] = e.largest_free;
  json["pinned_bytes"] = e.pins.pinned;
  json["returnable_bytes"] = e.pins.returnable;
  json["kept_whole_bytes"] = e.kept_whole;
  json["unplaced_blocks"] = e.unplaced;
  json["address_space"] = addresses_json(e.addresses);
  json["pins"] = Json::array();
  for (const Pin& pin : e.pins.by_place) {
    json["pins"].push_back({{"place", pin.place},
                            {"pinned_bytes", pin.pinned},
                            {"segments", pin.segments},
                            {"blocks", pin.blocks},
                            {"oldest_event", or_null(pin.oldest)}});
  }
  json["live"] = JsonFields::of(e.live);
  json["by"] = name_of(e.by);
  json["tree"] = tree_json(e);
  json["rounding"] = Json::array();
  for (const SizeClassLoss& loss : e.rounding) {
    json["rounding"].push_back({{"from_bytes", loss.from},
                                {"blocks", loss.blocks},
                                {"requested_bytes", loss.requested},
                                {"allocated_bytes", loss.allocated}});
  }
  json["pools"] = Json::array();
  for (const PoolRow& row : e.pools) {
    json["pools"].push_back({{"pool", text_or_null(device.pool_names[row.pool])},
                             {"small", row.small_pool},
                             {"stream", device.streams[row.stream]},
                             {"segments", row.segments},
                             {"reserved_bytes", row.reserved},
                             {"allocated_bytes", row.allocated},
                             {"pending_bytes", row.pending},
                             {"free_bytes", row.free},
                             {"largest_free_bytes", row.largest_free}});
  }
  json["phases"] = Json::array();
  for (const PhasePeak& phase : e.phases) json["phases"].push_back(phase_json(phase));
  json["growth"] = growth_json(device);
  json["findings"] = Json::array();
  for (const Finding& finding : findings(device)) {
    json["findings"].push_back({{"what", finding.what},
                                {"bytes", finding.bytes},
                                {"remedy", text_or_null(finding.remedy)}});
  }
  json["advice"] = text_or_null(advice(device));
  json["remarks"] = device.remarks;
  if (!device.messages.empty()) json.update(messages_json(device));
  return json;
}

}  // namespace

std::string to_json(const ExplainAnswer& answer) {
  std::vector<Json> results;
  Json worst = nullptr;
  for (const ExplainedDevice& device : answer.devices) {
    if (worst.is_null() && device.explanation.at_oom) worst = results.size();
    Json result = head_json("explain");
    result["trace"] = trace_json(device.trace);
    result["device"] = device_json(device.device);
    result.update(explanation_json(device));
    result["model_check"] = nullptr;
    if (device.model_check) result["model_check"] = verify_run_json(*device.model_check);
    results.push_back(std::move(result));
  }
  return dump_results("explain", std::move(results), std::move(worst));
}

}  // namespace memreplay
