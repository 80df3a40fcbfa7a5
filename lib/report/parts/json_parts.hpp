#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/made_facts.hpp"
#include "program/verdict.hpp"
#include "report/parts/facts.hpp"
#include "report/parts/json_fields.hpp"
#include "run/answer.hpp"

/// What the JSON reports of several commands share. Keys are in the order in which they are put in.
namespace memreplay {

/// Unset where it is empty.
std::optional<std::string_view> unless_empty(const std::string& text);
/// Unset where nothing shows it.
template <typename T>
std::optional<T> only_if(bool known, T value) {
  return known ? std::optional<T>(std::move(value)) : std::nullopt;
}

void fields(JsonFields& f, const TraceSummary& trace);
/// With what only `info` is asked for.
void detailed_fields(JsonFields& f, const TraceSummary& trace);
void fields(JsonFields& f, const Growth& growth);
void fields(JsonFields& f, const DeviceSummary& device);
/// Who has what of a device, where it is known.
std::optional<SetAside> aside_of(const DeviceSummary& device);
/// What is left of a device, and who has the rest of it.
void usable_fields(JsonFields& f, std::optional<Bytes> usable,
                   const std::optional<SetAside>& aside);
void fields(JsonFields& f, const Run& run);
void fields(JsonFields& f, const VerifyRun& run);
void fields(JsonFields& f, const RunInterval& interval);
void fields(JsonFields& f, const OomPlace& oom);
void fields(JsonFields& f, const StateBeyondDevice& state);
void fields(JsonFields& f, const RequestInRoom& request);
void fields(JsonFields& f, const EditFacts& edit);
void fields(JsonFields& f, const PlaceSum& sum);

/// The schema and the command, with which every report begins.
void head_fields(JsonFields& f, std::string_view command);
/// How the model reproduces the recording, beside answers that rest on it.
void model_check_field(JsonFields& f, const std::optional<VerifyRun>& check);

/// The head, a trace, the device that it was replayed on (null: on none) and the runs.
template <typename Device, typename Runs>
void result_fields(JsonFields& f, std::string_view command, const TraceSummary& trace,
                   const Device& device, const Runs& runs) {
  head_fields(f, command);
  f("trace", trace, "the recording");
  facts_fields(f, trace.facts());
  f("device", device, "the device of the replays; null where there are none");
  f("runs", runs, "a result for each strategy or device");
}

/// A report as text. Several results become one object, with the index of the worst.
std::string dump(const Json& json);
std::string dump_results(std::string_view command, std::vector<Json> results, Json worst);
template <typename Result>
std::string dump_each(std::string_view command, const std::vector<Result>& results, Json worst) {
  std::vector<Json> written;
  for (const Result& result : results) written.push_back(JsonFields::of(result));
  return dump_results(command, std::move(written), std::move(worst));
}

}  // namespace memreplay
