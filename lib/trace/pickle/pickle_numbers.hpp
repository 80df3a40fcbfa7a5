#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "trace/pickle/pickle_value.hpp"

namespace memreplay {

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
