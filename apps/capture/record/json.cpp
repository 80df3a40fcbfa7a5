#include <fmt/format.h>

#include "record/answer.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

Json facts_json(const VirtualFacts& facts) {
  Json json{{"reads", facts.reads},           {"read_at", Json::array()},
            {"workspaces", Json::array()},    {"requests", facts.requests},
            {"refusals", facts.refusals},     {"first_refusals", Json::array()},
            {"neutral_calls", Json::object()}};
  json["oldest_code_architecture"] =
      facts.oldest_code == 0
          ? Json(nullptr)
          : Json(fmt::format("{}.{}", facts.oldest_code / 10, facts.oldest_code % 10));
  for (const auto& [name, times] : facts.neutral_calls) json["neutral_calls"][name] = times;
  for (const ReadPlace& place : facts.read_at) {
    json["read_at"].push_back({{"file", text_or_null(place.file)},
                               {"line", place.line},
                               {"function", text_or_null(place.function)},
                               {"times", place.times}});
  }
  for (const ModelledWorkspace& workspace : facts.workspaces) {
    json["workspaces"].push_back({{"function", workspace.function},
                                  {"times", workspace.times},
                                  {"largest_bytes", workspace.largest}});
  }
  for (const RefusedRequest& request : facts.first_refusals) {
    json["first_refusals"].push_back({{"request", request.number}, {"bytes", request.size}});
  }
  return json;
}

Json process_json(const RecordedProcess& process) {
  return Json{
      {"path", text_or_null(process.path)},
      {"pid", process.pid},
      {"rank", or_null(process.rank)},
      {"torch", text_or_null(process.torch)},
      {"used_cuda", process.used_cuda},
      {"ooms", process.ooms},
      {"own_switches", process.own_switches},
      {"virtual_gpu", process.virtual_gpu ? facts_json(*process.virtual_gpu) : Json(nullptr)}};
}

Json calls_json(const CallRecording& calls) {
  const capture::SpoolSummary& summary = calls.summary;
  return Json{{"path", calls.path},
              {"recorder", calls.recorder},
              {"pid", calls.pid},
              {"command", calls.command},
              {"allocations", summary.allocations},
              {"frees", summary.frees},
              {"refused", summary.refused},
              {"unknown_frees", summary.unknown_frees},
              {"inherited_blocks", summary.inherited},
              {"live_blocks", summary.live_blocks},
              {"live_bytes", summary.live_bytes},
              {"peak_requested_bytes", summary.peak_bytes},
              {"missing", summary.missing},
              {"unrecorded_forks", summary.unrecorded_forks},
              {"complete", summary.stopped_by == 0 && summary.missing == 0}};
}

Json card_json(const VirtualCard& card) {
  return Json{{"name", std::string_view(card.card.name)},
              {"total_bytes", card.total},
              {"context_bytes", card.context},
              {"compute_capability", card.card.compute / 10.0},
              {"multiprocessors", card.card.multiprocessors}};
}

}  // namespace

std::string to_json(const RecordAnswer& answer) {
  Json json = head_json("record");
  json["program"] = answer.program;
  json["exit_status"] = answer.end.status;
  json["virtual_gpu"] = answer.card ? card_json(*answer.card) : Json(nullptr);
  json["processes"] = Json::array();
  for (const RecordedProcess& process : answer.processes) {
    json["processes"].push_back(process_json(process));
  }
  json["calls"] = Json::array();
  for (const CallRecording& calls : answer.calls) json["calls"].push_back(calls_json(calls));
  json["failed"] = answer.failed;
  json["left_in"] = text_or_null(answer.left);
  json["results"] = Json::array();
  for (const TraceRuns& runs : answer.replays.traces) {
    Json entry{{"trace", trace_json(runs.trace)}, {"runs", Json::array()}};
    for (const Run& run : runs.runs) entry["runs"].push_back(JsonFields::of(run));
    entry["verify"] = runs.model_check ? verify_run_json(*runs.model_check) : Json(nullptr);
    json["results"].push_back(entry);
  }
  return dump(json);
}

}  // namespace memreplay
