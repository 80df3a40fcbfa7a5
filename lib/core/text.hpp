#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// "24GiB", "24G" (= GiB), "512MiB", "1.5GiB", "1000" (bytes). Unset for anything else. More than
/// 4 EiB, which no device has, is taken for 4 EiB, so that sums of sizes do not overflow.
std::optional<Bytes> parse_size(std::string_view text);

/// A whole decimal number that fits; unset for anything else (signs and blanks included).
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// A size for people: "5184 MiB", "12.3 GiB", "790 KiB", "512 B". Mebibytes and gibibytes go up to
/// four digits before the next unit begins, so that sizes of one table compare at a glance.
std::string human_size(Bytes size);

/// A size without rounding, which parse_size reads again: "15618 MiB", "1000 B".
std::string exact_size(Bytes size);
/// A size as a command line takes it: "24GiB", "1000".
std::string size_argument(Bytes size);

/// A count for people: 1234567 as "1,234,567".
std::string human_count(std::uint64_t count);

/// The name that a mistyped one most likely meant; unset when none is near.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

/// With the letters of ASCII in lower case.
std::string lower_case(std::string text);

/// "; did you mean 'NEAREST'?" or the empty text.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// The first eight characters, the first in the lowest byte; 0 after the end of the text.
inline std::uint64_t eight_characters(std::string_view text) {
  constexpr std::size_t kFour = 4;
  const std::size_t size = text.size();
  std::uint64_t eight = 0;
  if (size >= sizeof eight) {
    std::memcpy(&eight, text.data(), sizeof eight);
  } else if (size >= kFour) {
    std::uint32_t last = 0;
    std::memcpy(&eight, text.data(), kFour);
    std::memcpy(&last, text.data() + size - kFour, kFour);
    eight |= std::uint64_t{last} << 8 * (size - kFour);
  } else if (size > 0) {
    for (const std::size_t i : {std::size_t{0}, size / 2, size - 1}) {
      eight |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
    }
  }
  return eight;
}

/// `part`, extended to the end of `whole` where it is a part of it.
inline std::string_view with_rest(std::string_view part, std::string_view whole) {
  const auto at = static_cast<std::size_t>(part.data() - whole.data());
  return at < whole.size() ? whole.substr(at) : part;
}

/// A decimal number of so many digits always fits into 64 bits.
inline constexpr std::size_t kDigitsThatFit = 19;

/// How many decimal digits a text begins with, and the number that they are where there are at most
/// 19. Without a branch for each: how many there are cannot be foreseen.
inline std::size_t leading_digits(std::string_view text, std::uint64_t& number) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  static constexpr std::array<std::uint64_t, 8> kPowers = {1,      10,      100,       1000,
                                                           10'000, 100'000, 1'000'000, 10'000'000};
  number = 0;
  for (std::size_t count = 0;; count += 8, text.remove_prefix(8)) {
    std::uint64_t digits = eight_characters(text) ^ kZeros;
    const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & kHigh;
    const auto here = static_cast<std::size_t>(std::countr_zero(others)) / 8;
    if (here == 0) return count;
    if (here < 8) digits <<= 64 - 8 * here;
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & 0x000000ff000000ff) * 0x000f424000000064 +
              (digits >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
             32;
    number = count == 0 ? digits : number * (here < 8 ? kPowers[here] : 100'000'000) + digits;
    if (here < 8) return count + here;
  }
}

/// The number that the first `size` characters of `text` are, up to 19 digits; false for anything
/// else. Quicker where more characters follow.
inline bool read_digits(std::string_view text, std::size_t size, std::uint64_t& number) {
  return size - 1 < kDigitsThatFit && leading_digits(text, number) == size;
}

inline bool read_digits(std::string_view text, std::uint64_t& number) {
  return read_digits(text, text.size(), number);
}

/// Length of the UTF-8 sequence at the front of a text that is not empty; 0 where there is none.
/// Surrogates, which Python writes for bytes that it could not decode, count where `surrogates`.
inline std::size_t utf8_length(std::string_view text, bool surrogates = false) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F && !surrogates;
  const bool too_high = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || too_high ? 0 : length;
}

/// The whole text is UTF-8.
inline bool is_utf8(std::string_view text, bool surrogates = false) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text, surrogates);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// The text with U+FFFD for every byte that is no UTF-8.
inline std::string as_utf8(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    kept += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return kept;
}

}  // namespace memreplay
