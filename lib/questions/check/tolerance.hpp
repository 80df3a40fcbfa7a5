#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "questions/check/answer.hpp"

namespace memreplay {

/// "2%", "0.5%", "64MiB", "1000" (bytes, or times). Unset for anything else.
std::optional<Tolerance> parse_tolerance(std::string_view text);

/// The most that is still within: exact, rounded down to a whole number.
std::uint64_t limit_of(std::uint64_t baseline, const Tolerance& tolerance);

}  // namespace memreplay
