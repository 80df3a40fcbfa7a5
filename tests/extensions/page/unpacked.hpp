#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace memreplay {

/// What base64 wrote.
inline std::string from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// What deflated wrote of so many bytes.
inline std::string inflated(const std::string& packed, std::size_t size) {
  std::string out(size, '\0');
  uLongf written = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &written,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(written, size);
  return out;
}

}  // namespace memreplay
