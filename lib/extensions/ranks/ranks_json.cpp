#include "extensions/ranks/ranks_report.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

void fields(JsonFields& f, const DepartingCall& call) {
  f("what", call.what, "request, refused, free, empty_cache, safe_frontier or start");
  f("bytes", call.size, "its size");
  f("place", unless_empty(call.place), "its call site");
}

void fields(JsonFields& f, const RankClass& c) {
  const bool departs = c.departure.has_value();
  const Departure departure = c.departure.value_or(Departure());
  f("ranks", c.ranks, "that make the same requests, in the same order");
  f("representative", c.representative, "the file of the lowest");
  f("stream", hex_of(c.stream), "hash of all their requests");
  f("departs_at_event", only_if(departs, departure.event), "in the representative's file");
  f("departs_from", only_if(departs, departure.from), "the class, by index");
  f("twin_event", only_if(departs, departure.twin_event), "in that of the other class");
  f("asked", departure.call, "there; null: it ends");
  f("twin_asked", departure.twin_call, "by the other class; null: it ends");
}

void fields(JsonFields& f, const RankElsewhere& other) {
  f("gpu", other.gpu, "the device");
  f("peak_reserved_bytes", other.peak_reserved, "there, under the first strategy");
  f("place", unless_empty(other.place), "call site of its first request; null: not recorded");
}

namespace {

void worst_fields(JsonFields& f, const RanksAnswer& answer, std::size_t run) {
  const bool known = run < answer.under.size();
  const RankRow row = known ? answer.part.rows[answer.under[run].worst] : RankRow();
  const RankRun under = known ? row.runs[run] : RankRun();
  f("rank", row.rank, "the rank");
  f("path", row.path, "its file");
  f("peak_reserved_bytes", under.peak_reserved, "peak of the bytes held from the device");
  f("ooms", under.ooms, "requests that were not served");
}

ByName<Spread> spread_of(const RanksUnder& under) {
  ByName<Spread> spreads;
  for (std::size_t i = 0; i < under.spreads.size(); ++i) {
    spreads.pairs.emplace_back(rank_metrics()[i].name, under.spreads[i]);
  }
  return spreads;
}

void rank_interval_fields(JsonFields& f, const BytesInterval& interval) {
  f("peak_reserved_bytes", interval, "[low, high]");
}

void rank_run_fields(JsonFields& f, const RankRow& row, const RankRun& run) {
  f("strategy", run.strategy, "the specification as given");
  for (const RankMetric& metric : rank_metrics()) f(metric.name, metric.of(row, run), metric.word);
  f("first_oom_event", run.first_oom, "null: none");
  f("exact", !run.peak_interval, "the recording determines the result");
  bound_field(f, !row.facts.whole());
  f("interval", each(run.peak_interval, rank_interval_fields), "null where it is exact");
}

void row_fields(JsonFields& f, const RanksAnswer& answer, const RankRow& row) {
  f("rank", row.rank, "the rank");
  f("path", row.path, "its file");
  f("gpu", row.gpu, "which device of it");
  f("elsewhere", row.elsewhere, "what it has on other devices");
  facts_fields(f, row.facts);
  f("class", answer.class_of(row), "its class, by index");
  const auto run = [&](JsonFields& runs, const RankRun& of) { rank_run_fields(runs, row, of); };
  f("runs", each(row.runs, run), "by strategy");
}

void tuned_ranks_fields(JsonFields& f, const TuneAnswer& tuned) {
  const TuneResult& result = tuned.result;
  const bool there = !result.outcomes.empty();
  const TuneOutcome best = there ? result.outcomes[result.best] : TuneOutcome();
  const RunSoFar total = best.total();
  f("setting", there ? result.conf(best) : "", "one for all ranks");
  f("variable", result.variable, "where it is written");
  f("helps", result.helps, "it is better than the baseline");
  f("peak_reserved_bytes", total.peak_reserved, "the highest of the ranks");
  f("ooms", total.ooms, "requests that were not served, of all ranks");
  f("tried", result.tried, "settings whose outcome is known or ruled out");
}

}  // namespace

void fields(JsonFields& f, const Spread& spread) {
  f("min", spread.min, "the least of the ranks");
  f("median", spread.median, "the median");
  f("max", spread.max, "the most");
  f("min_rank", spread.min_rank, "the rank with the least");
  f("max_rank", spread.max_rank, "the rank with the most");
}

void fields(JsonFields& f, const RankStage& stage) {
  f("first_rank", stage.first, "the first rank");
  f("last_rank", stage.last, "the last");
  f("peak_reserved_bytes", stage.peak_reserved, "the most of them");
}

void fields(JsonFields& f, const UnreadableRank& file) {
  f("rank", file.rank, "the rank");
  f("path", file.path, "its file");
  f("message", file.message, "what is wrong");
}

void fields(JsonFields& f, const RanksAnswer& answer) {
  head_fields(f, "ranks");
  f("classes", answer.classes, "ranks that make the same requests, the largest class first");
  const bool any = !answer.under.empty();
  const RanksUnder first = any ? answer.under.front() : RanksUnder();
  std::size_t at = 0;
  const auto worst = [&](JsonFields& of, const RanksUnder&) { worst_fields(of, answer, at); };
  f("worst", each(only_if(any, first), worst), "under the first strategy");
  f("spread", only_if(any, spread_of(first)), "by metric, under the first strategy");
  const auto under = [&](JsonFields& strategy, const RanksUnder& of) {
    strategy("strategy", of.strategy, "the specification as given");
    strategy("worst", Part{[&](JsonFields& row) { worst_fields(row, answer, at); }}, "its rank");
    strategy("ranks_out_of_memory", of.out_of_memory, "how many");
    strategy("spread", spread_of(of), "by metric");
    ++at;
  };
  f("strategies", each(answer.under, under), "all ranks under each");
  f("best", only_if(any, answer.best), "the strategy, by index");
  f("stages", answer.stages, "ranks that seem to be one pipeline stage");
  const std::optional<TuneAnswer> untuned;
  const bool tuned = answer.tuned && !answer.tuned->result.outcomes.empty();
  f("tune", each(tuned ? answer.tuned : untuned, tuned_ranks_fields), "null: not asked for");
  f("ranks_from", answer.part.ranks_from == RanksFrom::names ? "names" : "order",
    "how ranks are assigned to files: names or order");
  const auto row = [&](JsonFields& rows, const RankRow& of) { row_fields(rows, answer, of); };
  f("ranks", each(answer.part.rows, row), "the worst first");
  f("other_files", answer.part.others, "files of the folders that are no recordings");
  f("unreadable", answer.part.unreadable, "files that could not be read");
}

std::string to_json(const RanksAnswer& answer) { return dump(JsonFields::of(answer)); }

std::string to_json(const RanksPart& part) { return part_text(part); }

void ranks_documents(Documents& documents) { documents.add<RanksAnswer>("ranks"); }

}  // namespace memreplay
