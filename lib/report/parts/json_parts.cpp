#include "report/parts/json_parts.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "metrics/metrics.hpp"

namespace memreplay {
namespace {

std::optional<double> finite(double value) { return only_if(std::isfinite(value), value); }

std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? finite(part / whole) : std::nullopt;
}

std::optional<Durations> measured(const Durations& d) { return only_if(d.count() > 0, d); }

ByName<CallTimes> calls_of(const TimesByKind& times) {
  ByName<CallTimes> calls;
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    if (times[kind].host.count() == 0) continue;
    calls.pairs.emplace_back(name_of(static_cast<CallKind>(kind)), times[kind]);
  }
  return calls;
}

/// Seconds of the measured replays, where there were several.
struct Repeats {
  std::vector<double> seconds;
};

}  // namespace

void fields(JsonFields& f, const Durations& d) {
  f.called("durations");
  f("count", d.count(), "how many");
  f("mean", static_cast<double>(d.sum()) / static_cast<double>(d.count()), "ns");
  f("p50", d.quantile(0.5), "median, ns");
  f("p99", d.quantile(0.99), "99th percentile, ns");
  f("max", d.largest(), "the longest, ns");
}

void fields(JsonFields& f, const CallTimes& call) {
  f("host_ns", measured(call.host), "by the host's clock");
  f("device_ns", measured(call.device), "by the device's; null where it has none");
}

void fields(JsonFields& f, const Repeats& repeats) {
  f("count", repeats.seconds.size(), "how many");
  const bool any = !repeats.seconds.empty();
  f("least_seconds", any ? std::ranges::min(repeats.seconds) : 0.0, "the quickest");
  f("most_seconds", any ? std::ranges::max(repeats.seconds) : 0.0, "the slowest");
}

void fields(JsonFields& f, const Agreement::Difference& d) {
  f("event", d.event, "the first event with other bytes");
  f("allocated_bytes", d.allocated, "after it, on this device");
  f("reserved_bytes", d.reserved, "after it, on this device");
  f("other_allocated_bytes", d.other_allocated, "on the other");
  f("other_reserved_bytes", d.other_reserved, "on the other");
}

void fields(JsonFields& f, const Agreement& agreement) {
  f("with", agreement.with, "the other device, as given");
  f("events", agreement.events, "events compared");
  f("first_difference", agreement.first_difference, "null: they agree");
}

void fields(JsonFields& f, const RealUse& real) {
  f("used_bytes", real.memory.used, "memory in use at the end");
  f("peak_used_bytes", real.memory.peak_used, "the most among the samples");
  f("minor_faults", real.memory.minor_faults, "pages that only had to be mapped");
  f("major_faults", real.memory.major_faults, "pages read from disk");
  f("blocks_filled", real.touched.filled, "blocks written");
  f("bytes_filled", real.touched.filled_bytes, "whole sizes of them");
  f("blocks_checked", real.touched.checked, "blocks found as they were written");
  f("segments_without_memory", real.not_adopted, "segments from before that got none");
}

void fields(JsonFields& f, const EarlyEnd& end) {
  f("event", end.event, "the OOM, or the last event");
  f("why", name_of(end.why), "why it is before the end of a step");
  f("pass", name_of(end.pass), "forward, backward or later");
}

void fields(JsonFields& f, const Growth& growth) {
  f.called("program_growth");
  f("bytes_per_step", growth.per_step, "kept more after each step, by all that grow");
  f("place", growth.place, "the call site that keeps most");
  f("place_bytes_per_step", growth.place_per_step, "by it alone");
  f("since_step", growth.since_step, "with which it begins to grow, from 1");
  f("first_event", growth.first_event, "the request of the first block that stays");
  f("places", growth.places, "call sites that grow");
  f("steps", growth.steps, "complete ones");
}

void fields(JsonFields& f, const StateSummary& state) {
  f("reserved_bytes", state.reserved, "held from the device");
  f("segments", state.segments, "regions that the device gave");
  f("live_bytes", state.live, "live blocks, after rounding");
  f("blocks", state.blocks, "live blocks");
  f("blocks_with_stacks", state.blocks_with_stacks, "those with a stack");
}

void fields(JsonFields& f, const OtherTenant& tenant) {
  f("bytes", tenant.size, "held by others");
  f("from", tenant.from, "the event before which they come");
  f("to", only_if(tenant.to != UINT64_MAX, tenant.to), "and before which they go; null: never");
}

void fields(JsonFields& f, const PoolSleep& sleep) {
  f("event", sleep.event, "when it falls asleep or wakes");
  f("pool", std::pair(sleep.pool.first, sleep.pool.second), "the pool's two numbers");
  f("wakes", sleep.wakes, "it wakes");
  f("asleep_bytes", sleep.asleep, "all pools asleep then");
  f("residue_bytes", sleep.residue, "reserved for none of them");
  f("free_bytes", sleep.free, "room for others; null: a device without limit");
  f("missing_bytes", sleep.missing, "what a wake lacks");
}

void fields(JsonFields& f, const PluggablePool& pool) {
  f("pool", std::pair(pool.id.first, pool.id.second), "the pool's two numbers");
  f("peak_reserved_bytes", pool.most, "reserved by it at once");
}

void fields(JsonFields& f, const Divergence& divergence) {
  f("event", divergence.event, "where the model diverges");
  f("expected", divergence.expected, "what was recorded");
  f("got", divergence.got, "what the model did");
  f("why", divergence.why, "a sentence");
}

namespace {

void timing_fields(JsonFields& f, const RunMetrics& m) {
  const MeasuredTimes times = m.times.value_or(MeasuredTimes());
  f("replay_seconds", finite(m.replay_seconds), "time of the replay, the median where repeated");
  f("events_per_second", ratio(static_cast<double>(m.events), m.replay_seconds), "its speed");
  f("modelled_device_seconds", finite(m.modelled_device_seconds),
    "what the device calls would cost by the cost model");
  f("modelled_stall_seconds", finite(m.stall_seconds), "modelled waits for transfers");
  f("op_ns", measured(times.ops), "requests and frees, whole; null where not measured");
  f("strategy_ns", measured(times.strategy), "the same without what the device took");
  f("calls", only_if(m.times && m.real, calls_of(times.calls)), "calls to the driver, by kind");
  f("repeats", only_if(m.repeat_seconds.size() > 1, Repeats{m.repeat_seconds}),
    "the measured replays; null where there was one");
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

/// A metric that is one number or flag. Shares and seconds may be null.
void value_field(JsonFields& f, const Metric& metric, const RunMetrics& m) {
  using Unit = Metric::Unit;
  const bool fraction = metric.unit == Unit::share || metric.unit == Unit::seconds;
  const JsonType type{metric.unit == Unit::flag ? "boolean" : fraction ? "number" : "integer"};
  f.typed(metric.key, value_json(metric.of(m)), fraction ? type.or_null() : type, metric.meaning);
}

void metric_field(JsonFields& f, const Metric& metric, const RunMetrics& m) {
  if (metric.of != nullptr) {
    value_field(f, metric, m);
  } else if (metric.key == "first_oom") {
    f(metric.key, m.first_oom, metric.meaning);
  } else if (metric.key == "timing") {
    f(metric.key, Part{[&](JsonFields& timing) { timing_fields(timing, m); }}, metric.meaning);
  } else {
    f(metric.key, ByName<std::int64_t>{m.counters}, metric.meaning);
  }
}

std::optional<std::string_view> name_of(CapacityFrom from) {
  constexpr std::string_view kNames[] = {"", "option", "oom", "retries"};
  const std::size_t at = static_cast<std::size_t>(from);
  return only_if(at > 0, kNames[at]);
}

void coverage_fields(JsonFields& f, const TraceSummary& t) {
  f("starts", t.starts_empty ? "empty" : "warm", "empty, or warm: with blocks from before");
  f("complete", t.complete, "no events are missing");
  f("preexisting_blocks", t.preexisting_blocks, "blocks from before the recording");
  f("preexisting_bytes", t.preexisting_bytes, "requested bytes of them");
  f("dropped", t.dropped, "what was left out, counted by reason");
  f("synthesised", t.synthesised, "what was added, counted by reason");
  f("class", t.warm_class, "what came before: fresh, steady, smaller or larger; null: not looked");
  f("largest_earlier_step", only_if(t.warm_class.has_value(), t.largest_earlier_step),
    "the largest step before, in those of the recording; 0: none");
  f("gapless", t.gapless, "nothing is known to be missing since the first event");
  f("full_ring_entries", t.full_ring, "entries of a history that was full");
  f("ends_early", t.early_end, "the OOM before one whole step at which the recording ends");
}

void own_count_fields(JsonFields& f, const OwnCount& own) {
  f("name", own.allocator, "as the recording has it");
  f("limit_bytes", own.limit, "that it may allocate");
  f("process_peak_bytes", own.process_peak, "the most allocated since the process began");
  f("events", own.events, "that state what is allocated after them");
  f("agreeing_events", own.agreeing, "of these, as the sum of all sizes so far");
}

void recorded_fields(JsonFields& f, const TraceSummary& t) {
  f("settings", t.settings, "of the recorded allocator; null where not stated");
  f("settings_variable", unless_empty(t.settings_variable), "the variable that held them");
  f("expandable_segments", t.expandable_segments, "whether they were on; null: unknown");
  f("request_padding_bytes", t.request_padding, "added to each request by the allocator");
  f("request_padding_range_bytes", t.request_padding_range,
    "[least, most] paddings that explain the blocks as well");
  f("peak_requested_bytes", t.peak_requested, "peak of the sizes asked for by live blocks");
  f("peak_reserved_bytes", t.peak_reserved, "peak of the bytes held from the device");
  f("end_reserved_bytes", t.end_reserved, "reserved after the last event");
  f("ooms", t.ooms, "requests that were refused");
  f("pluggable_pools", t.pluggable_pools,
    "private pools of a pluggable allocator, which may sleep");
  f("peak_requested_event", t.peak_requested_event, "right after it most was requested");
  f("peak_reserved_event", t.peak_reserved_event, "right after it most was reserved");
  f("oom_retries", t.retries, "requests for which memory was released first; null: unknown");
  f("state", t.state, "the memory at the end; null where the recording holds none");
  const bool counts = t.stated.own_count.has_value();
  const OwnCount own = t.stated.own_count.value_or(OwnCount());
  if (f.sometimes(counts)) {
    f("peak_allocated_bytes", own.peak, "by its allocator's own count, after its rounding");
  }
  if (f.sometimes(counts)) f("end_allocated_bytes", own.end, "likewise, after the last event");
  if (f.sometimes(counts)) {
    f("allocated_before_start_bytes", own.before, "likewise, before the first event");
  }
  if (f.sometimes(counts)) {
    f("allocators", each(std::vector<OwnCount>{own}, own_count_fields), "whose calls they are");
  }
  if (f.sometimes(t.stated.end_live.has_value())) {
    f("end_live_bytes", t.stated.end_live.value_or(0), "live at the end, beside a state of a peak");
  }
  if (f.sometimes(t.stated.planned.has_value())) {
    f("planned_bytes", t.stated.planned.value_or(0), "height of the plan that it carries");
  }
}

void trace_fields(JsonFields& f, const TraceSummary& t, bool detailed) {
  f("path", t.path, "the file as given");
  f("format", t.format, "a name of `list formats`");
  f("gpu", t.gpu, "which device of the recording");
  f("events", t.events, "how many, driver events not counted");
  f("allocs", t.allocs, "requests");
  f("frees", t.frees, "blocks freed");
  f("streams", t.streams, "streams in use");
  f("pools", t.pools, "memory pools");
  if (f.sometimes(t.threads.has_value())) f("threads", t.threads.value_or(0), "that ask");
  if (f.sometimes(t.stated.sampled)) f("sampled", t.stated.sampled, "told from samples");
  f("duration_us", t.duration_us, "from the first event to the last, microseconds");
  f("coverage", Part{[&](JsonFields& coverage) {
      coverage_fields(coverage, t);
      if (!detailed) return;
      coverage("first_places", t.first_places, "where each reason is met first");
    }},
    "what the recording covers");
  f("recorded", Part{[&](JsonFields& recorded) { recorded_fields(recorded, t); }},
    "what the recording itself says");
  f("growth", t.growth, "what the program keeps more of with each step; null: nothing");
  if (f.sometimes(!t.edits.empty())) f("edits", t.edits, "edits made to the program");
}

}  // namespace

std::optional<std::string_view> unless_empty(const std::string& text) {
  return only_if(!text.empty(), std::string_view(text));
}

void fields(JsonFields& f, const TraceSummary& trace) {
  f.called("trace");
  trace_fields(f, trace, false);
}

void detailed_fields(JsonFields& f, const TraceSummary& trace) {
  trace_fields(f, trace, true);
  f("detail", trace.detail, "the format, for people");
  f("lacks", trace.lacks, "what the format does not say");
  f("why_no_trace", unless_empty(trace.why_no_trace), "why there is nothing to replay");
}

void fields(JsonFields& f, const EditFacts& edit) {
  f("edit", edit.edit, "as given");
  f("blocks", edit.blocks, "blocks changed");
  f("bytes", edit.bytes, "requested by them before");
  f("recomputed_bytes", edit.recomputed_bytes, "asked for a second time");
  f("recomputed_requests", edit.recomputed_requests, "requests made a second time");
  f("moved_bytes", edit.moved_bytes, "to another memory and back, each way counted");
  f("moving_seconds", edit.moving_seconds, "at the bandwidth given");
  f("other_memory_peak_bytes", edit.other_memory_peak, "held there at most");
  f("remarks", edit.remarks, "sentences");
}

void fields(JsonFields& f, const PlaceSum& sum) {
  f("place", sum.place, "the call site");
  f("bytes", sum.bytes, "requested");
  f("blocks", sum.blocks, "how many");
}

void usable_fields(JsonFields& f, std::optional<Bytes> usable,
                   const std::optional<SetAside>& aside) {
  const auto of = [&](Bytes SetAside::*part) {
    return aside ? std::optional((*aside).*part) : std::nullopt;
  };
  f("usable_bytes", usable, "what the allocator can use: reserved, and free on the device");
  f("context", of(&SetAside::context), "bytes that it leaves out; null: unknown");
  f("libraries", of(&SetAside::libraries), "likewise, code and buffers of libraries");
  f("others", of(&SetAside::others), "likewise, of other programs");
}

std::optional<SetAside> aside_of(const DeviceSummary& d) {
  if (d.set_aside || d.capacity_from != CapacityFrom::option || d.kind != "sim") return d.set_aside;
  return SetAside{.others = d.reserve};
}

void fields(JsonFields& f, const DeviceSummary& d) {
  f.called("device");
  f("kind", d.kind, "sim, cuda or host");
  f("name", d.name, "of a real device or card");
  f("capacity_bytes", d.capacity, "its total; null: no limit");
  f.one_of("capacity_from", JsonFields::of(name_of(d.capacity_from)), {"option", "oom", "retries"},
           "who says so");
  usable_fields(f, only_if(d.capacity.has_value(), d.usable()), aside_of(d));
  std::optional<std::string_view> card;
  std::optional<BytesInterval> bounds;
  if (d.set_aside) {
    card = only_if(!d.set_aside->card.empty(), d.set_aside->card);
    bounds = {d.set_aside->least + d.set_aside->others, d.set_aside->most + d.set_aside->others};
  }
  f("card", card, "a name of `list cards`; null: none is known");
  f("set_aside_bytes", bounds, "[least, most] that it may leave out; null: it is known");
  f("granularity_bytes", d.granularity, "sizes of regions are multiples of it");
  f("address_policy", d.address_policy, "which addresses it gives");
  f("as_given", d.text, "the value of --device");
  if (f.sometimes(!d.tenants.empty())) f("other_tenants", d.tenants, "others that come and go");
}

void fields(JsonFields& f, const RunInterval& interval) {
  f.called("interval");
  f("peak_reserved_bytes", interval.peak_reserved, "[low, high]");
  f("end_reserved_bytes", interval.end_reserved, "[low, high]");
  if (f.sometimes(interval.peak_requested.has_value())) {
    f("peak_requested_bytes", interval.peak_requested.value_or(BytesInterval()), "[low, high]");
  }
}

void fields(JsonFields& f, const OomPlace& oom) {
  f.called("oom");
  const bool is_known = oom.told == OomPlace::RefusedBy::replayed;
  f("event", oom.event, "the request that was not served");
  f("requested_bytes", oom.requested, "its size");
  f("free_bytes", only_if(is_known, oom.free), "free then; null where only the recording tells");
  f("largest_free_bytes", only_if(is_known, oom.largest_free), "in one piece");
  f("live_bytes", oom.live, "requested by live blocks");
}

void fields(JsonFields& f, const Run& run) {
  f.called("run");
  const RunMetrics& m = run.metrics;
  f("strategy", run.strategy, "the specification as given");
  f("gpu", run.gpu, "which device of the recording");
  f("place", run.place, "rank among the runs, from 1");
  f("exact", run.exact, "the recording determines the result");
  bound_field(f, run.at_least);
  f("inexact_because", unless_empty(run.inexact_because), "the end of a sentence");
  f("as_recorded", run.as_recorded, "its device did the same as the recorded one throughout");
  if (f.sometimes(run.places_open_from.has_value())) {
    f("places_open_from", run.places_open_from.value_or(0),
      "the event from which it depends on the driver's order of addresses where blocks lie");
  }
  f("finished", run.finished, "false: interrupted, or stopped at an OOM");
  f("interval", run.interval, "bounds of an estimate; null where it is exact");
  for (const Metric& metric : metrics()) {
    if (metric.in_json) metric_field(f, metric, m);
  }
  const OomVerdict verdict = run.refusal ? run.refusal->verdict : OomVerdict();
  f("cause", only_if(run.refusal || !m.first_oom, name_of(verdict.cause)),
    "why memory ran out first, or none; null: not looked at, or the recording cannot tell");
  f("in_effect", verdict.in_effect, "a shortage although the request would fit by its size");
  f("remarks", m.remarks, "notes that belong to the numbers");
  f("device", run.device, "on which it ran");
  f("real", m.real, "use of real memory; null in simulation");
  f("agreement", run.agreement, "whether another device gave the same bytes");
  if (f.sometimes(!m.sleeps.empty())) f("sleeps", m.sleeps, "pools that slept");
  if (f.sometimes(run.oom_report.has_value())) {
    f("oom_report", unless_empty(run.oom_report.value_or("")), "the original's failure report");
  }
}

void fields(JsonFields& f, const VerifyRun& run) {
  f.called("verify_run");
  f("gpu", run.gpu, "which device of the recording");
  f("allocs", run.allocs, "requests");
  f("allocs_matched", run.allocs_matched, "with the recorded address");
  f("segment_events", run.segment_events, "driver events");
  f("segment_events_matched", run.segment_events_matched, "those that the model reproduces");
  f("forced", run.forced, "requests at which the model was set to the recorded state");
  f.one_of("verdict", name_of(run.verdict), {"exact", "diverged", "resynchronised", "unsupported"},
           "how much of the recording the model reproduces");
  f("reason", unless_empty(run.reason), "a sentence");
  f("first_divergence", run.first_divergence, "null: none");
  f("torch_version", unless_empty(run.release), "the PyTorch whose rules were used");
}

void model_check_field(JsonFields& f, const std::optional<VerifyRun>& check) {
  f("model_check", check, "how much of the recording the model reproduces; null: no model of it");
}

void fields(JsonFields& f, const StateBeyondDevice& state) {
  f.called("state_beyond_device");
  f("needed_bytes", state.needed, "requested by what was there before the first event");
  f("room_bytes", state.room, "what the allocator may have");
  f("blocks", state.blocks, "how many");
}

void fields(JsonFields& f, const RequestInRoom& request) {
  f.called("request_in_room");
  f("event", request.event, "the request");
  f("live_bytes", request.live, "requested by live blocks");
  f("requested_bytes", request.requested, "its size");
  f("room_bytes", request.room, "what the allocator may have");
}

void head_fields(JsonFields& f, std::string_view command) {
  f.constant("schema", "memreplay/1", "this schema; keys are only ever added");
  f.constant("command", command, "which question is answered");
}

std::string dump(const Json& json) { return json.dump(2) + '\n'; }

std::string dump_results(std::string_view command, std::vector<Json> results, Json worst) {
  if (results.size() == 1) return dump(results.front());
  JsonFields f;
  head_fields(f, command);
  Json object = f.json();
  object["results"] = std::move(results);
  object["worst"] = std::move(worst);
  return dump(object);
}

}  // namespace memreplay
