#include "report/parts/json_parts.hpp"
#include "report/suggest/code_change.hpp"
#include "report/suggest/suggest.hpp"

namespace memreplay {
namespace {

Json suggestion_json(const Suggestion& s) {
  Json edits = Json::array();
  Json changes = Json::array();
  for (const SuggestedEdit& edit : s.edits) {
    edits.push_back(edit.text);
    const CodeChange change = code_change(edit);
    changes.push_back({{"what", change.what}, {"python", change.python}});
  }
  return Json{{"edits", std::move(edits)},
              {"changes", std::move(changes)},
              {"strategy", s.strategy},
              {"fits", s.fits},
              {"peak_requested_bytes", s.peak_requested},
              {"peak_reserved_bytes", s.peak_reserved},
              {"interval", interval_json(s.interval)},
              {"oom_retries", s.retries},
              {"recomputed_bytes", s.recomputed},
              {"recomputed_requests", s.recomputed_requests},
              {"moved_bytes", s.moved},
              {"saved_bytes", s.saved},
              {"saved_per_byte",
               s.price() > 0 ? Json(static_cast<double>(s.saved) / static_cast<double>(s.price()))
                             : Json(nullptr)},
              {"still_to_come_bytes", s.still_to_come},
              {"remarks", s.remarks}};
}

}  // namespace

std::string to_json(const SuggestAnswer& answer) {
  std::vector<Json> results;
  for (const SuggestedDevice& device : answer.devices) {
    Json& result = results.emplace_back(
        result_json("suggest", device.trace, device_json(device.device), Json::array()));
    result["budget_bytes"] = or_null(device.device.capacity);
    result["ends_at_oom"] = device.ends_at_oom;
    result["completed_by_step_before"] = device.completed;
    result["parameters_bytes"] = device.parameters;
    result["tried"] = device.tried;
    result["settings_tried"] = device.settings.tried;
    Json& suggestions = result["suggestions"] = Json::array();
    for (const Suggestion& suggestion : device.suggestions) {
      suggestions.push_back(suggestion_json(suggestion));
    }
    result["best"] = device.best() != nullptr ? Json(0) : Json(nullptr);
  }
  return dump_results("suggest", std::move(results), nullptr);
}

Table to_table(const SuggestAnswer& answer) {
  Table table;
  table.columns = {{"trace", true},
                   {"gpu"},
                   {"rank"},
                   {"edits", true},
                   {"strategy", true},
                   {"fits"},
                   {"peak_requested_bytes"},
                   {"peak_reserved_bytes"},
                   {"recomputed_bytes"},
                   {"moved_bytes"},
                   {"saved_bytes"}};
  for (const SuggestedDevice& device : answer.devices) {
    std::size_t rank = 0;
    for (const Suggestion& s : device.suggestions) {
      std::string edits;
      for (const SuggestedEdit& edit : s.edits) edits += (edits.empty() ? "" : " ") + edit.text;
      table.rows.push_back({device.trace.path, std::to_string(device.trace.gpu),
                            std::to_string(++rank), edits, s.strategy, s.fits ? "true" : "false",
                            std::to_string(s.peak_requested), std::to_string(s.peak_reserved),
                            std::to_string(s.recomputed), std::to_string(s.moved),
                            std::to_string(s.saved)});
    }
  }
  return table;
}

}  // namespace memreplay
