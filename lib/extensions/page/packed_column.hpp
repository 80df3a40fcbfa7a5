#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace memreplay {

/// A column of numbers in few bytes, for a program that reads them from the first on. Numbers take
/// seven bits a byte, the lowest first; a set eighth bit says that more follow.
class PackedColumn {
 public:
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void number(std::uint64_t value);
  /// Small numbers for values near zero: 0, -1, 1, -2, 2 …
  void signed_number(std::int64_t value);
  /// The difference to the last value given so, at first to 0.
  void step(std::uint64_t value);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::uint64_t last_ = 0;
};

inline void PackedColumn::number(std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  std::array<char, 10> bytes;
  std::size_t count = 0;
  for (; value >= kMore; value >>= 7) bytes[count++] = static_cast<char>(value | kMore);
  bytes[count++] = static_cast<char>(value);
  bytes_.append(bytes.data(), count);
}

inline void PackedColumn::signed_number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  number(value < 0 ? ~(bits << 1) : bits << 1);
}

inline void PackedColumn::step(std::uint64_t value) {
  signed_number(static_cast<std::int64_t>(value - last_));
  last_ = value;
}

}  // namespace memreplay
