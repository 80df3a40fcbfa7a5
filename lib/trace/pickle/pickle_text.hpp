#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "trace/pickle/pickle_value.hpp"

namespace memreplay {

// Operands of the opcodes that protocol 0 writes as lines of text.

/// INT: "12", "-3"; "00" and "01" are truth values.
std::optional<PickleValue> pickle_int(std::string_view line);
/// LONG: "12L".
std::optional<PickleValue> pickle_long(std::string_view line);
/// FLOAT: "1.5", "-inf".
std::optional<PickleValue> pickle_float(std::string_view line);
/// UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX, as UTF-8.
std::string pickle_unicode(std::string_view line);
/// STRING: a Python 2 literal in quotes; unset without them.
std::optional<std::string> pickle_string(std::string_view line);

// The operands of opcodes: numbers from their least byte on.

template <class T>
T little(const unsigned char* p) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline PickleValue whole(std::int64_t value) {
  return {.tag = PickleTag::whole, .bits = static_cast<std::uint64_t>(value)};
}

/// A two's complement of 1 to 8 bytes; 8 must be there to read.
inline PickleValue short_long(const unsigned char* p, std::uint64_t length) {
  const auto shift = static_cast<unsigned>(64 - 8 * length);
  return whole(static_cast<std::int64_t>(little<std::uint64_t>(p) << shift) >> shift);
}

}  // namespace memreplay
