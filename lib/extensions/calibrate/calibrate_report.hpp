#pragma once

#include <string>

#include "extensions/calibrate/answer.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// A row for each call and size, then which calls wait for the device's work.
std::string to_text(const CalibrateAnswer& answer, const TextStyle& style);
/// A profile: a file of kProfileSchema.
std::string to_json(const CalibrateAnswer& answer);

}  // namespace memreplay
