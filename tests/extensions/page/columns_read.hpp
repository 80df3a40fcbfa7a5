#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "extensions/page/packed_column.hpp"

namespace memreplay {

/// What PackedColumn::number wrote.
inline std::vector<std::uint64_t> numbers_of(const PackedColumn& column) {
  std::vector<std::uint64_t> values;
  std::uint64_t value = 0;
  int shift = 0;
  for (const char c : column.bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    values.push_back(value);
    value = 0;
    shift = 0;
  }
  return values;
}

/// What PackedColumn::signed_number wrote.
inline std::vector<std::int64_t> signed_of(const PackedColumn& column) {
  std::vector<std::int64_t> values;
  for (const std::uint64_t value : numbers_of(column)) {
    const auto half = static_cast<std::int64_t>(value >> 1);
    values.push_back(value % 2 == 0 ? half : -half - 1);
  }
  return values;
}

/// What PackedColumn::step wrote.
inline std::vector<std::int64_t> steps_of(const PackedColumn& column) {
  std::vector<std::int64_t> values = signed_of(column);
  for (std::size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1];
  return values;
}

}  // namespace memreplay
