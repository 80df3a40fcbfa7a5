#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// "24GiB", "24G" (= GiB), "512MiB", "1.5GiB", "1000" (bytes). Nothing for anything else. More than
/// 4 EiB, which no device has, is taken for 4 EiB, so that sums of sizes do not overflow.
std::optional<Bytes> parse_size(std::string_view text);

/// A whole decimal number that fits; nothing for anything else (signs and blanks included).
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// A size for people: "5184 MiB", "12.3 GiB", "790 KiB", "512 B". Mebibytes and gibibytes go up to
/// four digits before the next unit begins, so that sizes of one table compare at a glance.
std::string human_size(Bytes size);

/// A size without rounding, which parse_size reads again: "15618 MiB", "1000 B".
std::string exact_size(Bytes size);

/// A count for people: 1234567 as "1,234,567".
std::string human_count(std::uint64_t count);

/// The name that a mistyped one most likely meant; nothing when none is near.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

/// "; did you mean 'NEAREST'?" or the empty text.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// The number that up to 19 digits are; false for anything else.
inline bool read_digits(std::string_view text, std::uint64_t& number) {
  constexpr std::size_t kAlwaysFit = 19;
  if (text.size() > kAlwaysFit || text.empty()) return false;
  number = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned char>(c - '0');
    if (digit > 9) return false;
    number = number * 10 + digit;
  }
  return true;
}

}  // namespace memreplay
