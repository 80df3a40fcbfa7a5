#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memreplay {

/// 128 bits that tell contents apart: of n different ones two share them by chance with a
/// probability below n^2 / 2^128.
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// SipHash-2-4 of 128 bits (Aumasson and Bernstein). A hash as key chains what follows to what came
/// before.
Hash128 siphash(std::string_view bytes, Hash128 key = {});

/// Bytes as two hexadecimal digits each, and back; unset where the text is not made so.
std::string hex_of(std::string_view bytes);
std::optional<std::string> bytes_of_hex(std::string_view text);

/// 32 digits, and back.
std::string hex_of(const Hash128& hash);
std::optional<Hash128> hash_of_hex(std::string_view text);

}  // namespace memreplay
