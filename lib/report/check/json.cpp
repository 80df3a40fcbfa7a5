#include "report/check/phrases.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

Json setup_json(const EntryCheck& entry) {
  return Json{{"trace", entry.trace},
              {"gpu", entry.gpu},
              {"strategy", entry.setup.strategy},
              {"torch_version", text_or_null(entry.setup.release)},
              {"capacity_bytes", or_null(entry.setup.capacity)}};
}

Json value_json(const EntryCheck& entry, const CheckedValue& value) {
  return Json{{"name", value.metric->name},
              {"baseline", value.baseline},
              {"value", value.value},
              {"limit", value.limit},
              {"passed", entry.passes(value)},
              {"bound", bound_json(entry.early_end.has_value())},
              {"first_event_over", or_null(value.first_event_over)},
              {"step_over", or_null(value.step)},
              {"tolerance", value.tolerance.text},
              {"of_budget", value.of_budget},
              {"interval",
               value.interval ? Json{value.interval->low, value.interval->high} : Json(nullptr)},
              {"trace", entry.trace},
              {"gpu", entry.gpu},
              {"strategy", entry.setup.strategy}};
}

Json doubts_json(const EntryCheck& entry) {
  const bool counted = entry.counts_before();
  return Json{{"start", entry.from_before == FromBefore::unsaid ? Json(nullptr)
                        : counted                               ? Json("auto")
                                                                : Json("cold")},
              {"left_out_blocks", counted ? 0 : entry.blocks_before},
              {"left_out_bytes", counted ? 0 : entry.bytes_before},
              {"counted_blocks", counted ? entry.blocks_before : 0},
              {"counted_bytes", counted ? entry.bytes_before : 0},
              {"inexact_because", text_or_null(entry.inexact_because)}};
}

Json with_start_json(const std::optional<WithStart>& with) {
  if (!with) return nullptr;
  return Json{{"peak_reserved_bytes", with->peak_reserved},
              {"end_reserved_bytes", with->end_reserved},
              {"exact", with->inexact_because.empty()},
              {"inexact_because", text_or_null(with->inexact_because)},
              {"interval", interval_json(with->interval)}};
}

Json entry_json(const EntryCheck& entry) {
  Json json = setup_json(entry);
  json["passed"] = entry.passed();
  json.update(doubts_json(entry));
  json["with_start"] = with_start_json(entry.with_start);
  json["not_compared_because"] = text_or_null(entry.not_compared);
  json["grown"] = Json::array();
  for (const PlaceGrowth& growth : entry.grown) {
    const auto code = entry.code.find(growth.place);
    const bool known = code != entry.code.end();
    json["grown"].push_back({{"place", growth.place},
                             {"file", known ? Json(code->second.file) : Json(nullptr)},
                             {"line", known ? Json(code->second.line) : Json(nullptr)},
                             {"baseline_bytes", or_null(growth.before)},
                             {"bytes", growth.now},
                             {"grown_bytes", growth.grown},
                             {"at_most", !growth.before}});
  }
  return json;
}

}  // namespace

std::string to_json(const CheckAnswer& answer) {
  Json json = head_json("check");
  json["passed"] = answer.passed();
  json["baseline"] = answer.baseline;
  json["metrics"] = Json::array();
  json["entries"] = Json::array();
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      json["metrics"].push_back(value_json(entry, value));
    }
    json["entries"].push_back(entry_json(entry));
  }
  json["not_checked"] = Json::array();
  for (const BaselineEntry& entry : answer.not_checked) {
    json["not_checked"].push_back(entry_phrase(entry));
  }
  json["failed"] = Json::array();
  for (const NotChecked& file : answer.failed) {
    json["failed"].push_back({{"path", file.path}, {"message", file.message}});
  }
  return dump(json);
}

std::string to_json(const UpdateAnswer& answer) {
  Json json = head_json("check");
  json["updated"] = answer.baseline;
  json["entries"] = Json::array();
  for (const EntryUpdate& update : answer.entries) {
    Json entry = setup_json(update.check);
    entry.update(doubts_json(update.check));
    entry["new"] = update.kind == EntryUpdate::Kind::fresh;
    entry["changes"] = Json::array();
    for (const EntryUpdate::Change& change : update.changes) {
      entry["changes"].push_back({{"name", change.metric->name},
                                  {"before", or_null(change.before)},
                                  {"after", or_null(change.after)}});
    }
    json["entries"].push_back(std::move(entry));
  }
  return dump(json);
}

}  // namespace memreplay
