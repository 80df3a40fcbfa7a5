#pragma once

#include <ostream>
#include <span>
#include <string>

#include "analysis/find/answer.hpp"

namespace memreplay {

/// Strategies on one device as SVG: peaks by the value of the parameter, the device as a line, the
/// largest that fits of each named, and what the lines are below. For one strategy requested,
/// allocated and reserved, for several requested and what each reserves, with the interval where a
/// recording leaves one. Draws nothing where nothing was tried. `found` is not empty.
void draw_curves(std::span<const FoundValue> found, const std::string& name, std::ostream& out);

}  // namespace memreplay
