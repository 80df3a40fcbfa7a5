#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace memreplay {

static_assert(std::endian::native == std::endian::little, "the numbers of a file are as in memory");

/// Bytes that mean nothing. Whoever knows file and place makes an InputError of it.
class MrtFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// LEB128: seven bits a byte, the lowest first.
inline void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

/// Small where the difference is, either way.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

/// Takes bytes from the front. Throws MrtFault at their end.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes)
      : at_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(at_ + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  [[gnu::always_inline]] std::uint64_t number() {
    std::uint64_t eight = 0;
    if (left() < sizeof eight) return number_at_the_end();
    std::memcpy(&eight, at_, sizeof eight);
    const std::uint64_t stops = ~eight & 0x8080808080808080;
    if (stops == 0) return number_at_the_end();
    // Without a branch for each byte: how many there are cannot be foreseen.
    at_ += static_cast<std::size_t>(std::countr_zero(stops)) / 8 + 1;
    eight &= stops ^ (stops - 1);
    eight = (eight & 0x007f007f007f007f) | (eight & 0x7f007f007f007f00) >> 1;
    eight = (eight & 0x00003fff00003fff) | (eight & 0x3fff00003fff0000) >> 2;
    return (eight & 0x000000000fffffff) | (eight & 0x0fffffff00000000) >> 4;
  }

  std::string_view bytes(std::uint64_t count) {
    if (count > left()) throw MrtFault("ends too early");
    const std::string_view taken(reinterpret_cast<const char*>(at_), count);
    at_ += count;
    return taken;
  }

  template <typename Number>
  Number plain() {
    Number value{};
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  [[gnu::noinline]] std::uint64_t number_at_the_end() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) throw MrtFault("ends too early");
      const std::uint64_t byte = *at_++;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw MrtFault("has a number of more than 64 bits");
  }

  const unsigned char* at_;
  const unsigned char* end_;
};

}  // namespace memreplay
