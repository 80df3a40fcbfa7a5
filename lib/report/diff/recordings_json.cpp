#include <string_view>

#include "report/diff/diff.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string_view name_of(PlaceDiff::Change change) {
  constexpr std::string_view kNames[] = {"same",   "grew",   "shrank",
                                         "only_a", "only_b", "other_sizes"};
  return kNames[static_cast<std::size_t>(change)];
}

Json name_of(Steps::Source source) {
  constexpr std::string_view kNames[] = {"", "markers", "annotations", "repetition"};
  if (source == Steps::Source::none) return nullptr;
  return kNames[static_cast<std::size_t>(source)];
}

const char* pool_of(bool private_pool) { return private_pool ? "private" : "default"; }

template <typename A, typename B>
Json both(A&& a, B&& b) {
  return Json{{"a", std::forward<A>(a)}, {"b", std::forward<B>(b)}};
}

Json totals_json(const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  const auto of_runs = [&](auto value) {
    return diff.a.run ? both(value(*diff.a.run), value(*diff.b.run)) : both(nullptr, nullptr);
  };
  Json json;
  json["peak_requested_bytes"] = both(diff.a_peak.requested, diff.b_peak.requested);
  json["peak_allocated_bytes"] =
      both(or_null(diff.a_peak.allocated), or_null(diff.b_peak.allocated));
  json["peak_reserved_bytes"] = both(or_null(diff.a_peak.reserved), or_null(diff.b_peak.reserved));
  json["before_event"] = both(diff.a_peak.behind, diff.b_peak.behind);
  json["requests"] = both(diff.requests.a_requests, diff.requests.b_requests);
  json["ooms"] = diff.a.run ? both(diff.a.run->metrics.ooms, diff.b.run->metrics.ooms)
                            : both(answer.a.ooms, answer.b.ooms);
  json["oom_retries"] = of_runs([](const Run& run) { return run.metrics.oom_retries; });
  json["device_calls"] = of_runs([](const Run& run) { return run.device_calls(); });
  json["steps"] = both(diff.a.steps.begins.size(), diff.b.steps.begins.size());
  return json;
}

Json sum_json(const BlockSum& sum) { return {{"blocks", sum.blocks}, {"bytes", sum.bytes}}; }

Json place_json(const PlaceDiff& place) {
  Json json = {{"place", place.place.name},
               {"a_places", place.place.before},
               {"b_places", place.place.now},
               {"change", name_of(place.change())},
               {"pool", pool_of(place.private_pool)},
               {"stream", place.stream},
               {"a_bytes", place.a_bytes},
               {"b_bytes", place.b_bytes},
               {"a_blocks", place.a_blocks},
               {"b_blocks", place.b_blocks},
               {"sizes", Json::array()}};
  for (const SizeDiff& size : place.sizes) {
    json["sizes"].push_back(
        {{"size", size.size}, {"a_blocks", size.a_blocks}, {"b_blocks", size.b_blocks}});
  }
  return json;
}

Json span_json(const SpanPeak& span) {
  return {{"from", span.from},
          {"to", span.to},
          {"peak_requested_bytes", span.requested},
          {"peak_allocated_bytes", or_null(span.allocated)},
          {"peak_reserved_bytes", or_null(span.reserved)}};
}

Json steps_json(const RecordingsDiff& diff) {
  Json json = {{"a_source", name_of(diff.a.steps.source)},
               {"b_source", name_of(diff.b.steps.source)},
               {"a_count", diff.a.steps.begins.size()},
               {"b_count", diff.b.steps.begins.size()},
               {"rows", Json::array()}};
  if (!diff.has_steps()) return json;
  for (std::size_t step = 0; step < std::max(diff.a.spans.size(), diff.b.spans.size()); ++step) {
    Json row = {{"step", step}, {"a", nullptr}, {"b", nullptr}};
    if (step < diff.a.spans.size()) row["a"] = span_json(diff.a.spans[step]);
    if (step < diff.b.spans.size()) row["b"] = span_json(diff.b.spans[step]);
    json["rows"].push_back(std::move(row));
  }
  return json;
}

Json made_json(const std::optional<RequestMade>& made) {
  if (!made) return nullptr;
  return {{"event", made->event},
          {"requested_bytes", made->size},
          {"place", text_or_null(made->place)},
          {"pool", pool_of(made->private_pool)},
          {"stream", made->stream},
          {"refused", made->refused}};
}

Json difference_json(const std::optional<RequestDifference>& found, bool has_steps) {
  if (!found) return nullptr;
  return {{"step", has_steps ? Json(found->step) : Json(nullptr)},
          {"request", found->number},
          {"a", made_json(found->a)},
          {"b", made_json(found->b)}};
}

}  // namespace

std::string to_json(const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  Json json = head_json("diff");
  json["a"] = trace_json(answer.a);
  json["b"] = trace_json(answer.b);
  json["device"] = answer.device ? device_json(*answer.device) : Json(nullptr);
  json["runs"] = Json::array();
  if (diff.a.run) json["runs"] = Json::array({run_json(*diff.a.run), run_json(*diff.b.run)});
  json["at_step"] = diff.at_step == 0 ? Json(nullptr) : Json(diff.at_step);
  json["totals"] = totals_json(answer);
  json["by"] = diff.by_stack() ? "stack" : "size";
  json["place_by"] = diff.by_stack() ? Json(name_of(diff.place_by)) : Json(nullptr);
  json["in_both"] = sum_json(diff.in_both);
  json["only_a"] = sum_json(diff.only_a);
  json["only_b"] = sum_json(diff.only_b);
  json["places"] = Json::array();
  for (const PlaceDiff& place : diff.places) json["places"].push_back(place_json(place));
  json["steps"] = steps_json(diff);
  json["first_difference"] = difference_json(diff.requests.first, diff.has_steps());
  json["first_difference_in_equal_step"] =
      difference_json(diff.requests.first_in_equal_step, diff.has_steps());
  json["same_requests"] = !diff.requests.first;
  json["same_frees"] = diff.requests.first ? Json(nullptr) : Json(diff.requests.same_frees);
  return dump(json);
}

Table to_table(const RecordingsAnswer& answer) {
  Table table{{{"place", true},
               {"pool", true},
               {"stream"},
               {"change", true},
               {"a_bytes"},
               {"b_bytes"},
               {"difference_bytes"},
               {"a_blocks"},
               {"b_blocks"}},
              {}};
  for (const PlaceDiff& place : answer.diff.places) {
    const char* sign = place.a_bytes > place.b_bytes ? "-" : "";
    table.rows.push_back({place.place.name, pool_of(place.private_pool),
                          std::to_string(place.stream), std::string(name_of(place.change())),
                          std::to_string(place.a_bytes), std::to_string(place.b_bytes),
                          sign + std::to_string(place.difference()), std::to_string(place.a_blocks),
                          std::to_string(place.b_blocks)});
  }
  return table;
}

}  // namespace memreplay
