#include "report/json_parts.hpp"

#include <cmath>

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

Json timing_json(const RunMetrics& m) {
  Json op_ns = nullptr;
  if (m.op_ns) {
    op_ns = {{"count", m.op_ns->count},
             {"mean", finite(m.op_ns->mean)},
             {"p50", finite(m.op_ns->p50)},
             {"p99", finite(m.op_ns->p99)},
             {"max", finite(m.op_ns->max)}};
  }
  return Json{{"replay_seconds", finite(m.replay_seconds)},
              {"events_per_second", ratio(static_cast<double>(m.events), m.replay_seconds)},
              {"modelled_device_seconds", finite(m.modelled_device_seconds)},
              {"modelled_stall_seconds", finite(m.stall_seconds)},
              {"op_ns", op_ns}};
}

Json interval_json(const std::optional<RunInterval>& interval) {
  if (!interval) return nullptr;
  return Json{{"peak_reserved_bytes", pair(interval->peak_reserved)},
              {"end_reserved_bytes", pair(interval->end_reserved)}};
}

}  // namespace

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json trace_json(const TraceSummary& t) {
  return Json{{"path", t.path},
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
                {"synthesised", counts(t.synthesised)}}},
              {"recorded",
               {{"settings", or_null(t.settings)},
                {"settings_variable", text_or_null(t.settings_variable)},
                {"request_padding_bytes", t.request_padding},
                {"peak_requested_bytes", t.peak_requested},
                {"peak_reserved_bytes", or_null(t.peak_reserved)},
                {"end_reserved_bytes", or_null(t.end_reserved)},
                {"ooms", t.ooms}}}};
}

Json device_json(const DeviceSummary& d) {
  return Json{{"kind", d.kind},
              {"name", or_null(d.name)},
              {"capacity_bytes", or_null(d.capacity)},
              {"granularity_bytes", d.granularity},
              {"address_policy", d.address_policy}};
}

Json oom_json(const std::optional<OomPlace>& oom) {
  if (!oom) return nullptr;
  return Json{{"event", oom->event},
              {"requested_bytes", oom->requested},
              {"free_bytes", oom->free},
              {"largest_free_bytes", oom->largest_free},
              {"live_bytes", oom->live}};
}

Json run_json(const RunReport& run) {
  const RunMetrics& m = run.metrics;
  Json counters = Json::object();
  for (const auto& [name, value] : m.counters) counters[name] = value;
  Json json{
      {"strategy", run.strategy},
      {"gpu", run.gpu},
      {"place", run.place},
      {"exact", run.exact},
      {"inexact_because", text_or_null(run.inexact_because)},
      {"finished", run.finished},
      {"interval", interval_json(run.interval)},
      {"peak_requested_bytes", m.peak_requested},
      {"peak_allocated_bytes", m.peak_allocated},
      {"peak_reserved_bytes", m.peak_reserved},
      {"gap_bytes", static_cast<std::int64_t>(m.gap())},
      {"gap_at_peak_reserved_bytes", m.gap_at_peak_reserved},
      {"end_requested_bytes", m.end_requested},
      {"end_allocated_bytes", m.end_allocated},
      {"end_reserved_bytes", m.end_reserved},
      {"internal_fragmentation", finite(m.internal_fragmentation)},
      {"external_fragmentation", finite(m.external_fragmentation)},
      {"lower_bound_bytes", m.lower_bound},
      {"efficiency", m.moved_out_blocks != 0 ? Json(nullptr)
                                             : Json(ratio(static_cast<double>(m.peak_requested),
                                                          static_cast<double>(m.peak_reserved)))},
      {"ooms", m.ooms},
      {"oom_retries", m.oom_retries},
      {"first_oom", oom_json(m.first_oom)},
      {"recorded_ooms_served", m.recorded_ooms_served},
      {"device_allocs", m.device_allocs},
      {"device_frees", m.device_frees},
      {"device_maps", m.device_maps},
      {"device_unmaps", m.device_unmaps},
      {"syncs", m.syncs},
      {"stream_waits", m.stream_waits},
      {"segments_peak", m.segments_peak},
      {"segments_end", m.segments_end},
      {"clairvoyant", m.clairvoyant},
      {"moved_out_blocks", m.moved_out_blocks},
      {"moved_out_bytes", m.moved_out},
      {"timing", timing_json(m)},
      {"counters", std::move(counters)},
      {"remarks", m.remarks}};
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
              {"verdict", run.verdict},
              {"reason", text_or_null(run.reason)},
              {"first_divergence", divergence},
              {"torch_version", text_or_null(run.torch_version)}};
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

// Paths may hold bytes that are no UTF-8; they must not keep a report from being written.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string dump_results(std::string_view command, std::vector<Json> results, Json worst) {
  if (results.size() == 1) return dump(results.front());
  Json object = head_json(command);
  object["results"] = std::move(results);
  object["worst"] = std::move(worst);
  return dump(object);
}

}  // namespace memreplay
