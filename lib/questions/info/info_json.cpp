#include "questions/info/info_report.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

void fields(JsonFields& f, const SelectedBlocks& selected) {
  f("blocks", selected.blocks, "blocks that the selector picks");
  f("bytes", selected.bytes, "requested by them");
  f("smallest_bytes", selected.smallest, "the smallest block");
  f("largest_bytes", selected.largest, "the largest");
  f("peak_live_bytes", selected.peak_live, "the most of them at one time");
  f("peak_event", selected.peak_event, "after which that is");
  f("at_peak_bytes", selected.at_peak, "theirs when most was requested of all");
  f("places", selected.places, "call sites that requested them, most bytes first");
}

void info_fields(JsonFields& f, const TraceSummary& trace) {
  head_fields(f, "info");
  f("trace", Part{[&](JsonFields& detailed) { detailed_fields(detailed, trace); }},
    "the recording");
  facts_fields(f, only_if(trace.why_no_trace.empty(), trace.facts()));
  f("device", nullptr, "nothing is replayed");
  f("runs", std::vector<Run>(), "none");
  if (f.sometimes(trace.selected.has_value())) {
    f("selected", trace.selected.value_or(SelectedBlocks()), "the blocks of --select");
  }
}

std::string to_json(const InfoAnswer& answer) {
  std::vector<Json> results;
  for (const TraceSummary& trace : answer.traces) {
    JsonFields f;
    info_fields(f, trace);
    results.push_back(f.json());
  }
  return dump_results("info", std::move(results), nullptr);
}

}  // namespace memreplay
