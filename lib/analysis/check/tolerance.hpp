#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memreplay {

/// How far above its baseline a value may lie.
struct Tolerance {
  std::string text;       ///< as it was given: "2%", "64MiB", "0"
  bool relative = false;  ///< `amount` of each `per`; else `amount` more
  bool sized = false;     ///< has a unit of bytes
  std::uint64_t amount = 0;
  std::uint64_t per = 1;

  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// "2%", "0.5%", "64MiB", "1000" (bytes, or times). Nothing for anything else.
std::optional<Tolerance> parse_tolerance(std::string_view text);

/// The most that is still within: exact, rounded down to a whole number.
std::uint64_t limit_of(std::uint64_t baseline, const Tolerance& tolerance);

/// Of metrics that nobody gave one.
Tolerance default_tolerance();

}  // namespace memreplay
