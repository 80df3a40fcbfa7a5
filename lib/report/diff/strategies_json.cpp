#include <algorithm>

#include "report/diff/diff.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

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
  f("event", parting.event, "where they part");
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
  f("more", lead.more == 0 ? "a" : "b", "which side");
  f("from", lead.from, "the first event at which it does");
  f("to", lead.to, "the event after the last");
}

template <typename T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

std::vector<std::string> row(const char* what, std::string event, const Run& run,
                             const Holding& holding) {
  return {what,
          std::move(event),
          run.strategy,
          std::to_string(holding.requested),
          std::to_string(holding.allocated),
          std::to_string(holding.reserved),
          std::to_string(holding.free),
          std::to_string(holding.largest_free),
          std::to_string(holding.device_calls)};
}

}  // namespace

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
  Table table{{{"moment", true},
               {"event"},
               {"strategy", true},
               {"requested_bytes"},
               {"allocated_bytes"},
               {"reserved_bytes"},
               {"free_bytes"},
               {"largest_free_bytes"},
               {"device_calls"}},
              {}};
  const StrategiesDiff& diff = answer.diff;
  const auto add = [&](const char* what, const Parting* parting) {
    if (parting == nullptr) return;
    for (std::size_t side = 0; side < 2; ++side) {
      table.rows.push_back(
          row(what, std::to_string(parting->event), answer.diff.runs[side], parting->holds[side]));
    }
  };
  add("first difference", diff.first());
  add("first reserved difference", pointer(diff.reserved));
  add("first device call difference", pointer(diff.device_calls));
  add("first served difference", pointer(diff.served));
  if (diff.lead) add("largest difference", &diff.lead->furthest);
  for (const Run& run : answer.diff.runs) {
    table.rows.push_back({"peaks", "", run.strategy, std::to_string(run.metrics.peak_requested),
                          std::to_string(run.metrics.peak_allocated),
                          std::to_string(run.metrics.peak_reserved), "", "",
                          std::to_string(run.device_calls())});
  }
  return table;
}

}  // namespace memreplay
