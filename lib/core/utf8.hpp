#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memreplay {

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
