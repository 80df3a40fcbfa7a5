#pragma once

#include <cstdint>
#include <ostream>

#include "analysis/plan/answer.hpp"

namespace memreplay {

/// In one picture: more make a page that browsers do not like.
inline constexpr std::size_t kMostBuffersDrawn = 50'000;

/// The plan of one memory as SVG: time from left to right, addresses from 0 upwards. Where it holds
/// more than kMostBuffersDrawn, those with most bytes times life. Returns how many are drawn.
std::size_t draw_plan(const PlannedDevice& device, std::size_t memory, std::ostream& out);

}  // namespace memreplay
