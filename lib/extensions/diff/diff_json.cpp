#include <algorithm>
#include <string_view>

#include "extensions/diff/diff_report.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string_view name_of(PlaceDiff::Change change) {
  constexpr std::string_view kNames[] = {"same",   "grew",   "shrank",
                                         "only_a", "only_b", "other_sizes"};
  return kNames[static_cast<std::size_t>(change)];
}

std::optional<std::string_view> name_of(Steps::Source source) {
  constexpr std::string_view kNames[] = {"", "markers", "annotations", "repetition"};
  return only_if(source != Steps::Source::none, kNames[static_cast<std::size_t>(source)]);
}

const char* pool_of(bool private_pool) { return private_pool ? "private" : "default"; }

/// A figure of each recording.
template <typename T>
void both(JsonFields& f, std::string_view key, T a, T b, std::string_view about) {
  f(key, Part{[&](JsonFields& sides) {
      sides("a", a, "the first recording");
      sides("b", b, "the second");
    }},
    about);
}

void side_fields(JsonFields& f, const TraceSummary& trace) {
  fields(f, trace);
  facts_fields(f, trace.facts());
  f.called("compared_trace");
}

void totals_fields(JsonFields& f, const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  const SpanPeak& a = diff.a_peak;
  const SpanPeak& b = diff.b_peak;
  const bool replayed = diff.a.run.has_value();
  const Run a_run = diff.a.run.value_or(Run());
  const Run b_run = diff.b.run.value_or(Run());
  both(f, "peak_requested_bytes", a.requested, b.requested, "requested at the peak");
  both(f, "peak_allocated_bytes", a.allocated, b.allocated, "allocated; null: not replayed");
  both(f, "peak_reserved_bytes", a.reserved, b.reserved, "reserved; null: not recorded");
  const std::uint64_t a_event = a.behind;
  const std::uint64_t b_event = b.behind;
  both(f, "before_event", a_event, b_event, "the peak is right before this event");
  both(f, "requests", diff.requests.a_requests, diff.requests.b_requests, "how many");
  both(f, "ooms", replayed ? a_run.metrics.ooms : answer.a.ooms,
       replayed ? b_run.metrics.ooms : answer.b.ooms, "requests that were not served");
  both(f, "oom_retries", only_if(replayed, a_run.metrics.oom_retries),
       only_if(replayed, b_run.metrics.oom_retries), "null: not replayed");
  both(f, "device_calls", only_if(replayed, a_run.device_calls()),
       only_if(replayed, b_run.device_calls()), "null: not replayed");
  both(f, "steps", diff.a.steps.begins.size(), diff.b.steps.begins.size(), "how many");
}

/// A row for each step that one of them has.
std::vector<std::size_t> steps_of(const RecordingsDiff& diff) {
  std::vector<std::size_t> steps;
  if (!diff.has_steps()) return steps;
  steps.resize(std::max(diff.a.spans.size(), diff.b.spans.size()));
  for (std::size_t step = 0; step < steps.size(); ++step) steps[step] = step;
  return steps;
}

std::optional<SpanPeak> span_at(const std::vector<SpanPeak>& spans, std::size_t step) {
  if (step >= spans.size()) return std::nullopt;
  return spans[step];
}

void steps_fields(JsonFields& f, const RecordingsDiff& diff) {
  f("a_source", name_of(diff.a.steps.source), "what shows the steps of the first");
  f("b_source", name_of(diff.b.steps.source), "of the second");
  f("a_count", diff.a.steps.begins.size(), "steps of the first");
  f("b_count", diff.b.steps.begins.size(), "of the second");
  const auto row = [&](JsonFields& rows, std::size_t step) {
    rows("step", step, "0: what comes before the first");
    rows("a", span_at(diff.a.spans, step), "null: it has no such step");
    rows("b", span_at(diff.b.spans, step), "null: it has no such step");
  };
  f("rows", each(steps_of(diff), row), "step by step");
}

void difference_field(JsonFields& f, std::string_view key,
                      const std::optional<RequestDifference>& found, bool has_steps,
                      std::string_view about) {
  const auto difference = [&](JsonFields& d, const RequestDifference& of) {
    d("step", only_if(has_steps, of.step), "0: before the first");
    d("request", of.number, "which request of the step, from 1");
    d("a", of.a, "null: it made fewer");
    d("b", of.b, "null: it made fewer");
  };
  f(key, each(found, difference), about);
}

std::vector<Run> runs_of(const RecordingsDiff& diff) {
  if (!diff.a.run) return {};
  return {*diff.a.run, *diff.b.run};
}

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

void holding_fields(JsonFields& f, const Holding& holding, Op op) {
  f.called("holding");
  f("served", only_if(is_request(op), !holding.refused), "null: the event is no request");
  f("requested_bytes", holding.requested, "by live blocks");
  f("allocated_bytes", holding.allocated, "after the strategy's rounding");
  f("reserved_bytes", holding.reserved, "held from the device");
  f("free_bytes", holding.free, "inside what it holds");
  f("largest_free_bytes", holding.largest_free, "in one piece");
  f("device_calls", holding.device_calls, "so far");
}

void parting_fields(JsonFields& f, const StrategiesAnswer& answer, const Parting& parting) {
  f.called("parting");
  const bool known = parting.stream < answer.streams.size();
  f("event", parting.event, "where they diverge");
  f("op", name_of(parting.op), "what it is");
  f("step", only_if(parting.step > 0, parting.step), "null: before the first, or no steps");
  f("requested_bytes", only_if(parting.size > 0, parting.size), "requested or freed");
  f("stream", only_if(known, known ? answer.streams[parting.stream] : 0), "its handle");
  f("place", unless_empty(parting.place), "its call site");
  const auto side = [&](std::size_t at) {
    return Part{[&parting, at](JsonFields& holding) {
      holding_fields(holding, parting.holds[at], parting.op);
    }};
  };
  f("a", side(0), "what the first strategy holds after it");
  f("b", side(1), "what the second does");
}

void parting_field(JsonFields& f, std::string_view key, const StrategiesAnswer& answer,
                   const std::optional<Parting>& parting, std::string_view about) {
  const auto write = [&](JsonFields& p, const Parting& of) { parting_fields(p, answer, of); };
  f(key, each(parting, write), about);
}

void lead_fields(JsonFields& f, const StrategiesAnswer& answer, const Lead& lead) {
  parting_fields(f, answer, lead.furthest);
  f.called("lead");
  f("difference_bytes", lead.difference(), "reserved more");
  f("more", lead.more == 0 ? "a" : "b", "A or B");
  f("from", lead.from, "the first event at which it does");
  f("to", lead.to, "the event after the last");
}

template <typename T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

}  // namespace

void fields(JsonFields& f, const SpanPeak& span) {
  f("from", span.from, "its first event");
  f("to", span.to, "the event after its last");
  f("peak_requested_bytes", span.requested, "peak of the sizes asked for by live blocks");
  f("peak_allocated_bytes", span.allocated, "null: not replayed");
  f("peak_reserved_bytes", span.reserved, "null: not recorded");
}

void fields(JsonFields& f, const BlockSum& sum) {
  f("blocks", sum.blocks, "how many");
  f("bytes", sum.bytes, "requested by them");
}

void fields(JsonFields& f, const SizeDiff& size) {
  f("size", size.size, "bytes");
  f("a_blocks", size.a_blocks, "in the first recording");
  f("b_blocks", size.b_blocks, "in the second");
}

void fields(JsonFields& f, const PlaceDiff& place) {
  f("place", place.place.name, "the call site");
  f("a_places", place.place.before, "its names in the first recording");
  f("b_places", place.place.now, "in the second");
  f("change", name_of(place.change()), "same, grew, shrank, only_a, only_b or other_sizes");
  f("pool", pool_of(place.private_pool), "private or default");
  f("stream", place.stream, "its stream, by index");
  f("a_bytes", place.a_bytes, "requested at the first's peak");
  f("b_bytes", place.b_bytes, "at the second's");
  f("a_blocks", place.a_blocks, "live at the first's peak");
  f("b_blocks", place.b_blocks, "at the second's");
  f("sizes", place.sizes, "ascending");
}

void fields(JsonFields& f, const RequestMade& made) {
  f("event", made.event, "the request");
  f("requested_bytes", made.size, "its size");
  f("place", unless_empty(made.place), "its call site");
  f("pool", pool_of(made.private_pool), "private or default");
  f("stream", made.stream, "its stream, by index");
  f("refused", made.refused, "by the recorded allocator");
}

void fields(JsonFields& f, const RecordingsAnswer& answer) {
  const RecordingsDiff& diff = answer.diff;
  head_fields(f, "diff");
  f("a", Part{[&](JsonFields& a) { side_fields(a, answer.a); }}, "the first recording");
  f("b", Part{[&](JsonFields& b) { side_fields(b, answer.b); }}, "the second");
  f("device", answer.device, "of the replays; null: as recorded");
  f("runs", runs_of(diff), "both under one strategy; none: as recorded");
  f("at_step", only_if(diff.at_step > 0, diff.at_step), "whose peaks are compared");
  f("totals", Part{[&](JsonFields& totals) { totals_fields(totals, answer); }}, "side by side");
  f("by", diff.by_stack() ? "stack" : "size", "how blocks are matched: stack or size");
  f("place_by", only_if(diff.by_stack(), name_of(diff.place_by)), "what counts as a place");
  f("in_both", diff.in_both, "same place, same size");
  f("only_a", diff.only_a, "blocks of the first alone");
  f("only_b", diff.only_b, "blocks of the second alone");
  f("places", diff.places, "what each holds at the peaks");
  f("steps", Part{[&](JsonFields& steps) { steps_fields(steps, diff); }}, "peaks by step");
  difference_field(f, "first_difference", diff.requests.first, diff.has_steps(),
                   "where they first request something else");
  difference_field(f, "first_difference_in_equal_step", diff.requests.first_in_equal_step,
                   diff.has_steps(), "the same in a step with as many requests");
  f("same_requests", !diff.requests.first, "all requests are the same, in order");
  f("same_frees", only_if(!diff.requests.first, diff.requests.same_frees), "and their frees");
}

std::string to_json(const RecordingsAnswer& answer) { return dump(JsonFields::of(answer)); }

Table to_table(const RecordingsAnswer& answer) {
  Table table{{left("place"), left("pool"), "stream", left("change"), "a_bytes", "b_bytes",
               "difference_bytes", "a_blocks", "b_blocks"}};
  for (const PlaceDiff& place : answer.diff.places) {
    const char* sign = place.a_bytes > place.b_bytes ? "-" : "";
    table.add(place.place.name, pool_of(place.private_pool), place.stream, name_of(place.change()),
              place.a_bytes, place.b_bytes, sign + cell_of(place.difference()), place.a_blocks,
              place.b_blocks);
  }
  return table;
}

void fields(JsonFields& f, const StrategiesAnswer& answer) {
  const StrategiesDiff& diff = answer.diff;
  const Parting* first = diff.first();
  result_fields(f, "diff", answer.trace, answer.device, diff.runs);
  f("finished", diff.finished, "false: only the runs mean something");
  parting_field(f, "first_difference", answer,
                first != nullptr ? std::optional(*first) : std::nullopt,
                "they hold, serve or do something else");
  parting_field(f, "first_reserved_difference", answer, diff.reserved, "other reserved bytes");
  parting_field(f, "first_device_call_difference", answer, diff.device_calls,
                "another number of calls so far");
  parting_field(f, "first_served_difference", answer, diff.served, "only one serves the request");
  f("first_allocated_difference", diff.allocated_from, "the event; other allocated bytes");
  const auto lead = [&](JsonFields& l, const Lead& of) { lead_fields(l, answer, of); };
  f("largest_difference", each(diff.lead, lead), "null: they always reserve the same");
  f("events_a_reserves_more", diff.events_a_more, "events after which the first does");
  f("events_b_reserves_more", diff.events_b_more, "events after which the second does");
  model_check_field(f, answer.model_check);
}

std::string to_json(const StrategiesAnswer& answer) { return dump(JsonFields::of(answer)); }

Table to_table(const StrategiesAnswer& answer) {
  Table table{{left("moment"), "event", left("strategy"), "requested_bytes", "allocated_bytes",
               "reserved_bytes", "free_bytes", "largest_free_bytes", "device_calls"}};
  const StrategiesDiff& diff = answer.diff;
  const auto add = [&](const char* what, const Parting* parting) {
    if (parting == nullptr) return;
    for (std::size_t side = 0; side < 2; ++side) {
      const Holding& holds = parting->holds[side];
      table.add(what, parting->event, diff.runs[side].strategy, holds.requested, holds.allocated,
                holds.reserved, holds.free, holds.largest_free, holds.device_calls);
    }
  };
  add("first difference", diff.first());
  add("first reserved difference", pointer(diff.reserved));
  add("first device call difference", pointer(diff.device_calls));
  add("first served difference", pointer(diff.served));
  if (diff.lead) add("largest difference", &diff.lead->furthest);
  for (const Run& run : answer.diff.runs) {
    table.add("peaks", "", run.strategy, run.metrics.peak_requested, run.metrics.peak_allocated,
              run.metrics.peak_reserved, "", "", run.device_calls());
  }
  return table;
}

void diff_documents(Documents& documents) {
  documents.add<RecordingsAnswer>("diff_recordings");
  documents.add<StrategiesAnswer>("diff_strategies");
}

}  // namespace memreplay
