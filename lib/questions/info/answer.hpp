#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/trace_summary.hpp"
#include "run/inputs.hpp"

namespace memreplay {

/// What do the recordings cover, and can they be trusted?
struct InfoQuestion {
  InputOptions input;
  std::optional<std::string> select;  ///< blocks to be looked at: see check_selector
  std::optional<std::size_t> points;  ///< points of each curve as recorded; unset: no curves
};

struct Control;

/// What recordings cover: each of their devices, or the recording alone where it has none.
struct InfoAnswer {
  std::vector<TraceSummary> traces;
};

/// Reads every recording in turn. Throws InputError, and UsageError where one lacks the device that
/// is asked for. Costs a verification and some rehearsals for a recording that starts late.
InfoAnswer answer(const InfoQuestion& question, const Control& control);

}  // namespace memreplay
