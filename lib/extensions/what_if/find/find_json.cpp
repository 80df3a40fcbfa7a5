#include "extensions/what_if/find/find_report.hpp"
#include "report/formats/format.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/prediction.hpp"

namespace memreplay {

void fields(JsonFields& f, const ValueTried& tried) {
  f("value", tried.value, "of the parameter");
  f("recorded", tried.recorded, "a recording has this value");
  f("fits", tried.fits, "in the worst case");
  f("may_fit", tried.may_fit, "in the best case");
  f("peak_requested_bytes", tried.peak_requested, "on a device without limit");
  f("peak_allocated_bytes", tried.peak_allocated, "on a device without limit");
  f("peak_reserved_bytes", tried.peak_reserved, "on a device without limit");
  f("interval", tried.interval, "range of the prediction");
  f("oom_retries", only_if(tried.fits, tried.oom_retries), "on the device");
}

void fields(JsonFields& f, const FoundValue& found) {
  f("strategy", found.strategy, "the specification as given");
  f("device", found.device, "which it is to fit");
  f("largest_value", found.largest, "that fits; null: not even 1, or nothing was tried");
  f("largest_value_that_may_fit", found.may_fit, "above it; null: none");
  f("largest_value_usually", found.usually,
    "beside what is usually set aside; null: what is set aside is known");
  f("unbounded", found.unbounded, "all values that were tried fit");
  f("interrupted", found.interrupted, "a larger one may fit");
  f("fails_below", found.fails_below, "a value that does not fit although a larger one does");
  f("values", found.tried, "what was tried, ascending");
}

void fields(JsonFields& f, const HeldBack& held) {
  f("value", held.value, "recorded, and predicted from the others");
  f("peak_requested_bytes", held.requested, "recorded");
  f("predicted_requested_bytes", held.requested_predicted, "predicted");
  f("peak_reserved_bytes", held.reserved, "recorded");
  f("predicted_reserved_bytes", held.reserved_predicted, "predicted");
}

void fields(JsonFields& f, const FindAnswer& answer) {
  head_fields(f, "fit");
  f("parameter", answer.facts.name, "whose largest value is looked for");
  f("runs", answer.found, "for each strategy on each device");
  f("held_back", answer.held_back, "recorded values, predicted from the others");
  f("held_by_others_bytes", answer.reserve, "on every device");
  f("predicted", answer.facts, "how the first was predicted");
  if (f.sometimes(!answer.edits.empty())) f("edits", answer.edits, "edits made to the program");
}

std::string to_json(const FindAnswer& answer) { return dump(JsonFields::of(answer)); }

Table to_table(const FindAnswer& answer) {
  Table table{{left("strategy"), left("device"), answer.facts.name, "fits", "recorded",
               "peak_requested_bytes", "peak_allocated_bytes", "peak_reserved_bytes",
               "oom_retries"}};
  for (const FoundValue& found : answer.found) {
    const DeviceSummary& device = found.device;
    for (const ValueTried& tried : found.tried) {
      table.add(found.strategy,
                device.name.value_or(device.capacity ? cell_of(*device.capacity) : device.text),
                tried.value, tried.fits, tried.recorded, tried.peak_requested, tried.peak_allocated,
                tried.peak_reserved, tried.fits ? cell_of(tried.oom_retries) : "");
    }
  }
  return table;
}

std::string to_markdown(const FindAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

void find_documents(Documents& documents) { documents.add<FindAnswer>("fit_find"); }

}  // namespace memreplay
