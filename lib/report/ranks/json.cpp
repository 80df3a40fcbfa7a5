#include "report/parts/json_parts.hpp"
#include "report/ranks/ranks.hpp"

namespace memreplay {
namespace {

Json call_json(const std::optional<DepartingCall>& call) {
  if (!call) return nullptr;
  return Json{{"what", call->what}, {"bytes", call->size}, {"place", text_or_null(call->place)}};
}

Json class_json(const RankClass& c) {
  Json json{{"ranks", c.ranks},           {"representative", c.representative},
            {"stream", hex_of(c.stream)}, {"departs_at_event", nullptr},
            {"departs_from", nullptr},    {"twin_event", nullptr},
            {"asked", nullptr},           {"twin_asked", nullptr}};
  if (!c.departure) return json;
  json["departs_at_event"] = c.departure->event;
  json["departs_from"] = c.departure->from;
  json["twin_event"] = c.departure->twin_event;
  json["asked"] = call_json(c.departure->call);
  json["twin_asked"] = call_json(c.departure->twin_call);
  return json;
}

Json worst_json(const RanksAnswer& answer, std::size_t run) {
  const RankRow& row = answer.part.rows[answer.under[run].worst];
  return Json{{"rank", row.rank},
              {"path", row.path},
              {"peak_reserved_bytes", row.runs[run].peak_reserved},
              {"ooms", row.runs[run].ooms}};
}

Json spread_json(const RanksUnder& under) {
  Json json = Json::object();
  for (std::size_t i = 0; i < under.spreads.size(); ++i) {
    const Spread& spread = under.spreads[i];
    json[rank_metrics()[i].name] = {{"min", spread.min},
                                    {"median", spread.median},
                                    {"max", spread.max},
                                    {"min_rank", spread.min_rank},
                                    {"max_rank", spread.max_rank}};
  }
  return json;
}

Json run_json(const RankRow& row, const RankRun& run) {
  Json json{{"strategy", run.strategy}};
  for (const RankMetric& metric : rank_metrics()) json[metric.name] = metric.of(row, run);
  json["first_oom_event"] = or_null(run.first_oom);
  json["exact"] = !run.peak_interval;
  json["bound"] = bound_json(row.early_end.has_value());
  json["interval"] = nullptr;
  if (run.peak_interval) {
    const auto& [low, high] = *run.peak_interval;
    json["interval"] = {{"peak_reserved_bytes", Json::array({low, high})}};
  }
  return json;
}

Json row_json(const RanksAnswer& answer, const RankRow& row) {
  Json json{{"rank", row.rank},
            {"path", row.path},
            {"gpu", row.gpu},
            {"class", answer.class_of(row)},
            {"runs", Json::array()}};
  for (const RankRun& run : row.runs) json["runs"].push_back(run_json(row, run));
  return json;
}

Json stages_json(const RanksAnswer& answer) {
  Json stages = Json::array();
  for (const RankStage& stage : answer.stages) {
    stages.push_back({{"first_rank", stage.first},
                      {"last_rank", stage.last},
                      {"peak_reserved_bytes", stage.peak_reserved}});
  }
  return stages;
}

Json tune_json(const TuneAnswer& tuned) {
  const TuneResult& result = tuned.result;
  if (result.outcomes.empty()) return nullptr;
  const TuneOutcome& best = result.outcomes[result.best];
  const RunSoFar total = best.total();
  return Json{{"setting", result.conf(best)}, {"variable", result.variable},
              {"helps", result.helps},        {"peak_reserved_bytes", total.peak_reserved},
              {"ooms", total.ooms},           {"tried", result.tried}};
}

}  // namespace

std::string to_json(const RanksAnswer& answer) {
  Json json = head_json("ranks");
  json["classes"] = Json::array();
  for (const RankClass& c : answer.classes) json["classes"].push_back(class_json(c));
  const bool none = answer.under.empty();
  json["worst"] = none ? Json(nullptr) : worst_json(answer, 0);
  json["spread"] = none ? Json(nullptr) : spread_json(answer.under.front());
  json["strategies"] = Json::array();
  for (std::size_t run = 0; run < answer.under.size(); ++run) {
    const RanksUnder& under = answer.under[run];
    json["strategies"].push_back({{"strategy", under.strategy},
                                  {"worst", worst_json(answer, run)},
                                  {"ranks_out_of_memory", under.out_of_memory},
                                  {"spread", spread_json(under)}});
  }
  json["best"] = none ? Json(nullptr) : Json(answer.best);
  json["stages"] = stages_json(answer);
  json["tune"] = answer.tuned ? tune_json(*answer.tuned) : Json(nullptr);
  json["ranks_from"] = answer.part.ranks_from == RanksFrom::names ? "names" : "order";
  json["ranks"] = Json::array();
  for (const RankRow& row : answer.part.rows) json["ranks"].push_back(row_json(answer, row));
  json["other_files"] = answer.part.others;
  json["unreadable"] = Json::array();
  for (const UnreadableRank& file : answer.part.unreadable) {
    json["unreadable"].push_back(
        {{"rank", file.rank}, {"path", file.path}, {"message", file.message}});
  }
  return dump(json);
}

std::string to_json(const RanksPart& part) { return part_text(part); }

}  // namespace memreplay
