#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace memreplay
