#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/text.hpp"

namespace memreplay {

/// Reads the first line of a text, if it is as many numbers as there are, written as programs do:
/// up to 19 digits, no zeros before them, one separator between each two, a line feed after the
/// last. How many characters that are; 0 for any other line.
inline std::size_t read_plain_numbers(std::string_view text, char separator,
                                      std::span<std::uint64_t> numbers) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view rest = text.substr(at);
    const std::size_t digits = leading_digits(rest, numbers[i]);
    if (digits - 1 >= kDigitsThatFit || digits == rest.size()) return 0;
    if (rest[0] == '0' && digits > 1) return 0;
    if (rest[digits] != (i + 1 < numbers.size() ? separator : '\n')) return 0;
    at += digits + 1;
  }
  return at;
}

}  // namespace memreplay
