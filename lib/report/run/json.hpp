#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/results.hpp"

namespace memreplay {

/// The schema "memreplay/1": every key present, an unknown value null, bytes as integers. More
/// than one report becomes {"schema", "command", "results", "worst"}.
std::string replay_json(std::string_view command, const std::vector<ReplayReport>& reports);
/// What `info` says: no device, no runs.
std::string info_json(const std::vector<TraceSummary>& traces);
std::string verify_json(const std::vector<VerifyReport>& reports);

}  // namespace memreplay
