#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "extensions/page/page_data.hpp"

namespace memreplay {
namespace {

std::string decoded(const std::string& base64) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

std::string unpacked(const std::string& packed, std::size_t size) {
  const std::string bytes = decoded(packed);
  std::string out(size, '\0');
  uLongf written = size;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &written,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  EXPECT_EQ(written, size);
  return out;
}

TEST(Blob, HoldsItsColumnsOneBehindTheOther) {
  for (std::size_t size = 0; size < 9; ++size) {
    Blob blob;
    blob.add("first", std::string(size, 'x'));
    blob.add("second", "yz");
    EXPECT_EQ(blob.table().dump(), fmt::format(R"({{"first":[0,{0}],"second":[{0},2]}})", size));
    EXPECT_EQ(unpacked(blob.packed(), size + 2), std::string(size, 'x') + "yz");
    EXPECT_EQ(blob.packed().size() % 4, 0u);
  }
}

}  // namespace
}  // namespace memreplay
