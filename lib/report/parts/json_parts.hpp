#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run/answer.hpp"
#include "analysis/verdict/answer.hpp"
#include "trace/json/json.hpp"

/// What the JSON reports of several commands share. Keys are in the order in which they are put in.
namespace memreplay {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// "lower" where a recording that ends early makes figures lower bounds, else null.
Json bound_json(bool at_least);
Json text_or_null(const std::string& text);

Json trace_json(const TraceSummary& trace);
Json device_json(const DeviceSummary& device);
Json run_json(const Run& run);
Json verify_run_json(const VerifyRun& run);
/// Null where the recording determines the run.
Json interval_json(const std::optional<RunInterval>& interval);
Json oom_json(const std::optional<OomPlace>& oom);
Json state_beyond_json(const std::optional<StateBeyondDevice>& state);
Json request_in_room_json(const std::optional<RequestInRoom>& request);

/// The schema and the command, with which every report begins.
Json head_json(std::string_view command);
/// The head, a trace, the device that it was replayed on (null: on none) and the runs.
Json result_json(std::string_view command, const TraceSummary& trace, Json device, Json runs);

/// A report as text. Several results become one object, with the index of the worst.
std::string dump(const Json& json);
std::string dump_results(std::string_view command, std::vector<Json> results, Json worst);

}  // namespace memreplay
