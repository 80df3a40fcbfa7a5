#pragma once

#include <string>

#include "analysis/calibrate/calibrate.hpp"

namespace memreplay {

/// A calibration as a file of the schema "memreplay-profile/1".
std::string cost_profile_text(const RealMemoryFacts& device, const Calibration& calibration);

/// What the calls cost by such a file: its medians. Throws InputError with line and column, or the
/// place in it.
CostModel read_cost_profile(const std::string& path);
/// The same from text; `path` is for messages.
CostModel parse_cost_profile(const std::string& path, const std::string& text);

/// A row for each call and size, then which calls wait for the device's work.
std::string calibration_text(const RealMemoryFacts& device, const Calibration& calibration);

}  // namespace memreplay
