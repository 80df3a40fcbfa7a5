#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/text.hpp"

namespace memreplay {

/// By character: the digit that it is, 16 where it is none.
inline constexpr auto kHexadecimalDigits = [] {
  std::array<std::uint8_t, 256> digits;
  digits.fill(16);
  for (std::uint8_t digit = 0; digit < 16; ++digit) {
    digits[static_cast<unsigned char>("0123456789abcdef"[digit])] = digit;
    digits[static_cast<unsigned char>("0123456789ABCDEF"[digit])] = digit;
  }
  return digits;
}();

/// The number that a text begins with, of at most 16 digits; how many it has.
inline std::size_t read_hexadecimal(std::string_view text, std::uint64_t& number) {
  constexpr std::size_t kAlwaysFit = 16;
  const std::size_t most = std::min(text.size(), kAlwaysFit);
  number = 0;
  for (std::size_t at = 0; at < most; ++at) {
    const std::uint8_t digit = kHexadecimalDigits[static_cast<unsigned char>(text[at])];
    if (digit > 15) return at;
    number = number << 4 | digit;
  }
  return most;
}

/// As read_hexadecimal, for eight characters, the first in the lowest byte, and lower case digits.
/// Without a branch for each: how many there are cannot be foreseen.
inline std::size_t read_short_hexadecimal(std::uint64_t text, std::uint64_t& number) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  const auto not_below = [low = text & ~kHigh](std::uint64_t least) {
    return low + (0x80 - least) * kEach;
  };
  const std::uint64_t is_decimal = not_below('0') & ~not_below('9' + 1);
  const std::uint64_t is_letter = not_below('a') & ~not_below('f' + 1);
  const std::uint64_t others = (~(is_decimal | is_letter) | text) & kHigh;
  const auto digits = static_cast<std::size_t>(std::countr_zero(others)) / 8;
  number = 0;
  if (digits == 0) return 0;
  text <<= 64 - 8 * digits;
  text = (text & 0x0F * kEach) + (text >> 6 & kEach) * 9;
  text = (text << 4 | text >> 8) & 0x00FF00FF00FF00FF;
  text = (text << 8 | text >> 16) & 0x0000FFFF0000FFFF;
  number = (text << 16 | text >> 32) & 0xFFFFFFFF;
  return digits;
}

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
