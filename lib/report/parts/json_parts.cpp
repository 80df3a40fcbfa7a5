#include "report/parts/json_parts.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "metrics/metrics.hpp"
#include "report/parts/edits.hpp"

namespace memreplay {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json ratio(double part, double whole) { return whole > 0 ? finite(part / whole) : Json(nullptr); }

Json counts(const std::map<std::string, std::uint64_t>& by_reason) {
  Json object = Json::object();
  for (const auto& [reason, count] : by_reason) object[reason] = count;
  return object;
}

Json pair(const BytesInterval& interval) { return Json::array({interval.low, interval.high}); }

Json durations_json(const Durations& d) {
  if (d.count() == 0) return nullptr;
  return Json{{"count", d.count()},
              {"mean", static_cast<double>(d.sum()) / static_cast<double>(d.count())},
              {"p50", d.quantile(0.5)},
              {"p99", d.quantile(0.99)},
              {"max", d.largest()}};
}

Json calls_json(const TimesByKind& times) {
  Json calls = Json::object();
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    const CallTimes& call = times[kind];
    if (call.host.count() == 0) continue;
    calls[std::string(name_of(static_cast<CallKind>(kind)))] = {
        {"host_ns", durations_json(call.host)}, {"device_ns", durations_json(call.device)}};
  }
  return calls;
}

Json repeats_json(const std::vector<double>& seconds) {
  if (seconds.size() < 2) return nullptr;
  const auto [least, most] = std::ranges::minmax(seconds);
  return Json{{"count", seconds.size()}, {"least_seconds", least}, {"most_seconds", most}};
}

Json timing_json(const RunMetrics& m) {
  return Json{{"replay_seconds", finite(m.replay_seconds)},
              {"events_per_second", ratio(static_cast<double>(m.events), m.replay_seconds)},
              {"modelled_device_seconds", finite(m.modelled_device_seconds)},
              {"modelled_stall_seconds", finite(m.stall_seconds)},
              {"op_ns", m.times ? durations_json(m.times->ops) : Json(nullptr)},
              {"strategy_ns", m.times ? durations_json(m.times->strategy) : Json(nullptr)},
              {"calls", m.times && m.real ? calls_json(m.times->calls) : Json(nullptr)},
              {"repeats", repeats_json(m.repeat_seconds)}};
}

Json value_json(const MetricValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return Json(nullptr);
        } else {
          return Json(held);
        }
      },
      value);
}

// The value of a metric with several parts.
Json parts_json(std::string_view key, const RunMetrics& m) {
  if (key == "first_oom") return oom_json(m.first_oom);
  if (key == "timing") return timing_json(m);
  Json counters = Json::object();
  for (const auto& [name, value] : m.counters) counters[name] = value;
  return counters;
}

Json agreement_json(const std::optional<Agreement>& agreement) {
  if (!agreement) return nullptr;
  Json difference = nullptr;
  if (const auto& d = agreement->first_difference) {
    difference = {{"event", d->event},
                  {"allocated_bytes", d->allocated},
                  {"reserved_bytes", d->reserved},
                  {"other_allocated_bytes", d->other_allocated},
                  {"other_reserved_bytes", d->other_reserved}};
  }
  return Json{{"with", agreement->with},
              {"events", agreement->events},
              {"first_difference", std::move(difference)}};
}

Json real_json(const std::optional<RealUse>& real) {
  if (!real) return nullptr;
  return Json{{"used_bytes", real->memory.used},
              {"peak_used_bytes", real->memory.peak_used},
              {"minor_faults", or_null(real->memory.minor_faults)},
              {"major_faults", or_null(real->memory.major_faults)},
              {"blocks_filled", real->touched.filled},
              {"bytes_filled", real->touched.filled_bytes},
              {"blocks_checked", real->touched.checked},
              {"segments_without_memory", real->not_adopted}};
}

Json early_end_json(const std::optional<EarlyEnd>& end) {
  if (!end) return nullptr;
  return Json{{"event", end->event}, {"why", name_of(end->why)}, {"pass", name_of(end->pass)}};
}

Json state_json(const std::optional<StateSummary>& state) {
  if (!state) return nullptr;
  return Json{{"reserved_bytes", state->reserved},
              {"segments", state->segments},
              {"live_bytes", state->live},
              {"blocks", state->blocks},
              {"blocks_with_stacks", state->blocks_with_stacks}};
}

Json name_of(CapacityFrom from) {
  switch (from) {
    case CapacityFrom::option:
      return "option";
    case CapacityFrom::recorded_oom:
      return "oom";
    case CapacityFrom::recorded_retries:
      return "retries";
    default:
      return nullptr;
  }
}

}  // namespace

Json bound_json(bool at_least) { return at_least ? Json("lower") : Json(nullptr); }

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json trace_json(const TraceSummary& t) {
  Json json{{"path", t.path},
            {"format", t.format},
            {"gpu", t.gpu},
            {"events", t.events},
            {"allocs", t.allocs},
            {"frees", t.frees},
            {"streams", t.streams},
            {"pools", t.pools},
            {"duration_us", or_null(t.duration_us)},
            {"coverage",
             {{"starts", t.starts_empty ? "empty" : "warm"},
              {"complete", t.complete},
              {"preexisting_blocks", t.preexisting_blocks},
              {"preexisting_bytes", t.preexisting_bytes},
              {"dropped", counts(t.dropped)},
              {"synthesised", counts(t.synthesised)},
              {"class", or_null(t.warm_class)},
              {"largest_earlier_step", t.warm_class ? Json(t.largest_earlier_step) : Json(nullptr)},
              {"gapless", t.gapless},
              {"full_ring_entries", or_null(t.full_ring)},
              {"ends_early", early_end_json(t.early_end)}}},
            {"recorded",
             {{"settings", or_null(t.settings)},
              {"settings_variable", text_or_null(t.settings_variable)},
              {"expandable_segments", or_null(t.expandable_segments)},
              {"request_padding_bytes", t.request_padding},
              {"request_padding_range_bytes",
               t.request_padding_range
                   ? Json{t.request_padding_range->first, t.request_padding_range->second}
                   : Json(nullptr)},
              {"peak_requested_bytes", t.peak_requested},
              {"peak_reserved_bytes", or_null(t.peak_reserved)},
              {"end_reserved_bytes", or_null(t.end_reserved)},
              {"ooms", t.ooms},
              {"peak_requested_event", or_null(t.peak_requested_event)},
              {"peak_reserved_event", or_null(t.peak_reserved_event)},
              {"oom_retries", or_null(t.retries)},
              {"state", state_json(t.state)}}}};
  if (!t.edits.empty()) json["edits"] = edits_json(t.edits);
  return json;
}

Json tenants_json(const std::vector<OtherTenant>& tenants) {
  Json found = Json::array();
  for (const OtherTenant& tenant : tenants) {
    std::optional<std::uint64_t> to;
    if (tenant.to != UINT64_MAX) to = tenant.to;
    found.push_back({{"bytes", tenant.size}, {"from", tenant.from}, {"to", or_null(to)}});
  }
  return found;
}

Json device_json(const DeviceSummary& d) {
  Json device{{"kind", d.kind},
              {"name", or_null(d.name)},
              {"capacity_bytes", or_null(d.capacity)},
              {"capacity_from", name_of(d.capacity_from)},
              {"granularity_bytes", d.granularity},
              {"address_policy", d.address_policy},
              {"as_given", d.text}};
  if (!d.tenants.empty()) device["other_tenants"] = tenants_json(d.tenants);
  return device;
}

Json sleeps_json(const std::vector<PoolSleep>& sleeps) {
  Json found = Json::array();
  for (const PoolSleep& sleep : sleeps) {
    found.push_back({{"event", sleep.event},
                     {"pool", Json::array({sleep.pool.first, sleep.pool.second})},
                     {"wakes", sleep.wakes},
                     {"asleep_bytes", sleep.asleep},
                     {"residue_bytes", sleep.residue},
                     {"free_bytes", or_null(sleep.free)},
                     {"missing_bytes", sleep.missing}});
  }
  return found;
}

Json interval_json(const std::optional<RunInterval>& interval) {
  if (!interval) return nullptr;
  Json json{{"peak_reserved_bytes", pair(interval->peak_reserved)},
            {"end_reserved_bytes", pair(interval->end_reserved)}};
  if (interval->peak_requested) json["peak_requested_bytes"] = pair(*interval->peak_requested);
  return json;
}

Json oom_json(const std::optional<OomPlace>& oom) {
  if (!oom) return nullptr;
  const bool is_known = oom->told == OomPlace::Told::replayed;
  return Json{{"event", oom->event},
              {"requested_bytes", oom->requested},
              {"free_bytes", is_known ? Json(oom->free) : Json(nullptr)},
              {"largest_free_bytes", is_known ? Json(oom->largest_free) : Json(nullptr)},
              {"live_bytes", oom->live}};
}

Json run_json(const Run& run) {
  const RunMetrics& m = run.metrics;
  Json json{{"strategy", run.strategy},
            {"gpu", run.gpu},
            {"place", run.place},
            {"exact", run.exact},
            {"bound", bound_json(run.at_least)},
            {"inexact_because", text_or_null(run.inexact_because)},
            {"as_recorded", run.as_recorded},
            {"finished", run.finished},
            {"interval", interval_json(run.interval)}};
  for (const Metric& metric : metrics()) {
    if (!metric.in_json) continue;
    json[metric.key] = metric.of != nullptr ? value_json(metric.of(m)) : parts_json(metric.key, m);
  }
  json["remarks"] = m.remarks;
  json["device"] = device_json(run.device);
  json["real"] = real_json(m.real);
  json["agreement"] = agreement_json(run.agreement);
  if (!m.sleeps.empty()) json["sleeps"] = sleeps_json(m.sleeps);
  if (run.oom_report) json["oom_report"] = text_or_null(*run.oom_report);
  return json;
}

Json verify_run_json(const VerifyRun& run) {
  Json divergence = nullptr;
  if (run.first_divergence) {
    divergence = {{"event", run.first_divergence->event},
                  {"expected", run.first_divergence->expected},
                  {"got", run.first_divergence->got},
                  {"why", run.first_divergence->why}};
  }
  return Json{{"gpu", run.gpu},
              {"allocs", run.allocs},
              {"allocs_matched", run.allocs_matched},
              {"segment_events", run.segment_events},
              {"segment_events_matched", run.segment_events_matched},
              {"forced", run.forced},
              {"verdict", name_of(run.verdict)},
              {"reason", text_or_null(run.reason)},
              {"first_divergence", divergence},
              {"torch_version", text_or_null(run.release)}};
}

Json state_beyond_json(const std::optional<StateBeyondDevice>& state) {
  if (!state) return nullptr;
  return {{"needed_bytes", state->needed}, {"room_bytes", state->room}, {"blocks", state->blocks}};
}

Json request_in_room_json(const std::optional<RequestInRoom>& request) {
  if (!request) return nullptr;
  return {{"event", request->event},
          {"live_bytes", request->live},
          {"requested_bytes", request->requested},
          {"room_bytes", request->room}};
}

Json head_json(std::string_view command) {
  return Json{{"schema", "memreplay/1"}, {"command", command}};
}

Json result_json(std::string_view command, const TraceSummary& trace, Json device, Json runs) {
  Json object = head_json(command);
  object["trace"] = trace_json(trace);
  object["device"] = std::move(device);
  object["runs"] = std::move(runs);
  return object;
}

std::string dump(const Json& json) { return json.dump(2) + '\n'; }

std::string dump_results(std::string_view command, std::vector<Json> results, Json worst) {
  if (results.size() == 1) return dump(results.front());
  Json object = head_json(command);
  object["results"] = std::move(results);
  object["worst"] = std::move(worst);
  return dump(object);
}

}  // namespace memreplay
