#include "questions/check/phrases.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

void setup_fields(JsonFields& f, const EntryCheck& entry) {
  f("trace", entry.trace, "the file as given");
  f("gpu", entry.gpu, "which device of it");
  f("strategy", entry.setup.strategy, "the specification");
  f("torch_version", unless_empty(entry.setup.release), "whose rules; null: its own choice");
  f("capacity_bytes", entry.setup.capacity, "null: no limit");
}

void value_fields(JsonFields& f, const EntryCheck& entry, const CheckedValue& value) {
  f("name", value.metric != nullptr ? value.metric->name : "", "of the metric");
  f("baseline", value.baseline.value_or(value.limit),
    "its value in the baseline; the limit where a budget alone asks for it");
  f("value", value.value, "now; of an estimate the most likely");
  f("limit", value.limit, "what it may be");
  f("passed", entry.passes(value), "it is no more, and the recording is whole");
  bound_field(f, !entry.facts.whole());
  f("first_event_over", value.first_event_over, "at which it last passed the limit");
  f("step_over", value.step, "its step, 0 before the first");
  f("tolerance", value.tolerance.text, "as given");
  f("of_budget", value.of_budget, "the limit is a budget");
  f("interval", value.interval, "[low, high]; null: not estimated");
  f("trace", entry.trace, "the file as given");
  f("gpu", entry.gpu, "which device of it");
  f("strategy", entry.setup.strategy, "the specification");
}

void doubts_fields(JsonFields& f, const EntryCheck& entry) {
  const bool counted = entry.counts_before();
  f("start", only_if(entry.from_before != FromBefore::unsaid, counted ? "auto" : "cold"),
    "auto: blocks from before count; cold: they do not");
  f("left_out_blocks", counted ? 0 : entry.blocks_before, "blocks from before that do not count");
  f("left_out_bytes", counted ? 0 : entry.bytes_before, "requested bytes of them");
  f("counted_blocks", counted ? entry.blocks_before : 0, "blocks from before that count");
  f("counted_bytes", counted ? entry.bytes_before : 0, "requested bytes of them");
  f("inexact_because", unless_empty(entry.inexact_because), "the end of a sentence");
}

void grown_fields(JsonFields& f, const EntryCheck& entry, const PlaceGrowth& growth) {
  const auto code = entry.code.find(growth.place);
  const bool known = code != entry.code.end();
  const CodeLine line = known ? code->second : CodeLine();
  f("place", growth.place, "the call site");
  f("file", only_if(known, line.file), "of the program");
  f("line", only_if(known, line.line), "in it");
  f("baseline_bytes", growth.before, "held then; null: not among those kept");
  f("bytes", growth.now, "held now");
  f("grown_bytes", growth.grown, "more than then");
  f("at_most", !growth.before, "upper bound of the growth");
}

}  // namespace

void fields(JsonFields& f, const WithStart& with) {
  f("peak_reserved_bytes", with.peak_reserved, "by the program itself");
  f("end_reserved_bytes", with.end_reserved, "by the program itself");
  f("exact", with.inexact_because.empty(), "the recording determines them");
  f("inexact_because", unless_empty(with.inexact_because), "the end of a sentence");
  f("interval", with.interval, "bounds of an estimate");
}

void fields(JsonFields& f, const EntryCheck& entry) {
  f.called("check_entry");
  setup_fields(f, entry);
  facts_fields(f, entry.facts);
  f("passed", entry.passed(), "all of its values passed");
  doubts_fields(f, entry);
  f("with_start", entry.with_start, "with blocks from before the recording; never judged");
  f("not_compared_because", unless_empty(entry.not_compared), "why grown is empty");
  const auto grown = [&](JsonFields& g, const PlaceGrowth& of) { grown_fields(g, entry, of); };
  f("program", unless_empty(entry.versions.program), "the version of memreplay that replayed it");
  f("rules", unless_empty(entry.versions.rules), "whose rules, a release of PyTorch; null: others");
  f("baseline_program", unless_empty(entry.baseline_versions.program), "then; null: not said");
  f("baseline_rules", unless_empty(entry.baseline_versions.rules), "then; null: not said");
  f("grown", each(entry.grown, grown), "call sites that hold more than in the baseline");
}

void fields(JsonFields& f, const NotChecked& file) {
  f("path", file.path, "the file");
  f("message", file.message, "what is wrong");
}

void fields(JsonFields& f, const EntryUpdate::Change& change) {
  f("name", change.metric != nullptr ? change.metric->name : "", "of the metric");
  f("before", change.before, "null: new");
  f("after", change.after, "null: removed");
}

void fields(JsonFields& f, const EntryUpdate& update) {
  setup_fields(f, update.check);
  facts_fields(f, update.check.facts);
  doubts_fields(f, update.check);
  f("new", update.kind == EntryUpdate::Kind::fresh, "the baseline had no such entry");
  f("changes", update.changes, "values that changed");
}

/// A value, and the entry that it belongs to.
struct ValueOfEntry {
  const EntryCheck* entry = nullptr;
  const CheckedValue* value = nullptr;
};

void fields(JsonFields& f, const ValueOfEntry& of) {
  const EntryCheck entry;
  const CheckedValue value;
  value_fields(f, of.entry != nullptr ? *of.entry : entry, of.value != nullptr ? *of.value : value);
}

void fields(JsonFields& f, const CheckAnswer& answer) {
  head_fields(f, "check");
  f("passed", answer.passed(), "nothing got worse");
  f("baseline", answer.baseline, "its file as given");
  std::vector<ValueOfEntry> values;
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) values.push_back({&entry, &value});
  }
  f("metrics", values, "every value that was judged");
  f("entries", answer.entries, "every replay");
  std::vector<std::string> not_checked;
  for (const BaselineEntry& entry : answer.not_checked) not_checked.push_back(entry_phrase(entry));
  f("not_checked", not_checked, "what else the baseline has");
  f("failed", answer.failed, "what could not be checked");
}

void fields(JsonFields& f, const UpdateAnswer& answer) {
  head_fields(f, "check");
  f("updated", answer.baseline, "the file that was written");
  f("entries", answer.entries, "the change of each");
}

std::string to_json(const CheckAnswer& answer) { return dump(JsonFields::of(answer)); }

std::string to_json(const UpdateAnswer& answer) { return dump(JsonFields::of(answer)); }

}  // namespace memreplay
