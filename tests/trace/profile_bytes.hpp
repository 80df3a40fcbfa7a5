#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace memreplay {

/// Parts of a protobuf, for tests.
inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}
inline std::string field(std::uint64_t number, std::uint64_t value) {
  return varint(number << 3) + varint(value);
}
inline std::string field(std::uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
inline std::string packed(std::initializer_list<std::uint64_t> values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += varint(value);
  return bytes;
}

/// As JAX writes memory.prof: a buffer of two blocks that have `bytes` together on `device`, and an
/// executable of 50 bytes.
inline std::string jax_profile(std::uint64_t bytes, const std::string& device,
                               std::uint64_t executable = 50) {
  std::string profile = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4));
  profile +=
      field(2, field(1, packed({1, 2})) + field(2, packed({2, bytes})) +
                   field(3, field(1, 5) + field(2, 6)) + field(3, field(1, 7) + field(2, 8)));
  profile += field(2, field(2, packed({1, executable})) + field(3, field(1, 5) + field(2, 9)));
  profile += field(4, field(1, 1) + field(4, field(1, 1) + field(2, 88)));
  profile += field(4, field(1, 2) + field(4, field(1, 2) + field(2, 7)));
  profile += field(5, field(1, 1) + field(2, 10) + field(4, 12));
  profile += field(5, field(1, 2) + field(2, 11) + field(4, 12));
  for (const std::string& text :
       {std::string(), std::string("allocations"), std::string("count"), std::string("space"),
        std::string("bytes"), std::string("kind"), std::string("buffer"), std::string("device"),
        device, std::string("executable"), std::string("step"), std::string("main"),
        std::string("net.py")}) {
    profile += field(6, text);
  }
  return profile;
}

}  // namespace memreplay
