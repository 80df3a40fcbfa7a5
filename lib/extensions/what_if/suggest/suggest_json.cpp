#include <algorithm>

#include "extensions/what_if/suggest/suggest_report.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

std::optional<double> saved_per_byte(const Suggestion& s) {
  if (s.price() == 0) return std::nullopt;
  return static_cast<double>(s.saved) / static_cast<double>(s.price());
}

std::vector<std::string> texts_of(const std::vector<SuggestedEdit>& edits) {
  std::vector<std::string> texts;
  for (const SuggestedEdit& edit : edits) texts.push_back(edit.text);
  return texts;
}

std::string unknown_because(const SuggestedDevice& device) {
  if (std::ranges::all_of(device.suggestions, [](const auto& s) { return s.fits.has_value(); })) {
    return {};
  }
  return early_end_phrase(*device.trace.early_end);
}

void change_fields(JsonFields& f, const SuggestedEdit& edit) {
  const CodeChange change = code_change(edit);
  f("what", change.what, "what to change in the program");
  f("python", change.python, "the lines to write");
}

}  // namespace

void fields(JsonFields& f, const Suggestion& s) {
  f("edits", texts_of(s.edits), "as --edit takes them");
  f("changes", each(s.edits, change_fields), "the same in the program");
  f("strategy", s.strategy, "as -s takes it");
  f("fits", s.fits,
    "in the budget, also in the worst case of the edits; null: unknown, see unknown_because");
  bound_field(f, s.at_least);
  f("peak_requested_bytes", s.peak_requested, "peak of the sizes asked for by live blocks");
  f("peak_reserved_bytes", s.peak_reserved, "peak of the bytes held from the device");
  f("interval", s.interval, "what the edits do not determine");
  f("oom_retries", s.retries, "on the budget");
  f("recomputed_bytes", s.recomputed, "asked for a second time");
  f("recomputed_requests", s.recomputed_requests, "requests made a second time");
  f("moved_bytes", s.moved, "to the host and back");
  f("saved_bytes", s.saved, "less reserved than the program as it is");
  f("saved_per_byte", saved_per_byte(s), "saved for each byte recomputed or moved");
  f("still_to_come_bytes", s.still_to_come, "set aside for what is beyond the recording");
  f("remarks", s.remarks, "what the edits leave out, sentences");
}

void fields(JsonFields& f, const SuggestedDevice& device) {
  result_fields(f, "suggest", device.trace, device.device, std::vector<Run>());
  f("budget_bytes", device.device.capacity, "what it is to fit");
  f("ends_at_oom", device.trace.facts().ends() == Ends::oom_in_first_step,
    "the recording ends in its first step");
  f("completed_by_step_before", device.rest == RestOfStep::as_before,
    "the step that failed is assumed to end as the one before");
  f("unknown_because", unless_empty(unknown_because(device)),
    "why it is not known of some whether they fit");
  f("parameters_bytes", device.parameters, "the program's, inferred from their lifetimes");
  f("tried", device.tried, "edits, each under each strategy");
  f("settings_tried", device.settings.tried, "settings searched");
  f("suggestions", device.suggestions, "those that fit first, the cheapest first");
  f("remarks", nothing_requested_remarks(device.trace, device.nothing_requested), "sentences");
  f("best", only_if(device.best() != nullptr, 0), "its index; null: none fits");
}

std::string to_json(const SuggestAnswer& answer) {
  return dump_each("suggest", answer.devices, nullptr);
}

Table to_table(const SuggestAnswer& answer) {
  Table table{{left("trace"), "gpu", "rank", left("edits"), left("strategy"), "fits",
               "peak_requested_bytes", "peak_reserved_bytes", "recomputed_bytes", "moved_bytes",
               "saved_bytes"}};
  for (const SuggestedDevice& device : answer.devices) {
    std::size_t rank = 0;
    for (const Suggestion& s : device.suggestions) {
      std::string edits;
      for (const SuggestedEdit& edit : s.edits) edits += (edits.empty() ? "" : " ") + edit.text;
      table.add(device.trace.path, device.trace.gpu, ++rank, edits, s.strategy, s.fits,
                s.peak_requested, s.peak_reserved, s.recomputed, s.moved, s.saved);
    }
  }
  return table;
}

void suggest_documents(Documents& documents) { documents.add_results<SuggestedDevice>("suggest"); }

}  // namespace memreplay
