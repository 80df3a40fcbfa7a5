#pragma once

#include <string>

#include "analysis/find/answer.hpp"

namespace memreplay {

/// Peaks by the value of the parameter in characters, less than 80 columns and at most 14 lines:
/// reserved over requested, other columns for values that do not fit, the device as a line, the
/// largest value that fits named above, recorded values marked under the axis. A column in which no
/// value was tried is empty. Without `unicode` in ASCII.
std::string value_plot(const FoundValue& found, const std::string& name, bool unicode,
                       std::size_t width = 80);

}  // namespace memreplay
