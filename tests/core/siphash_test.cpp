#include "core/siphash.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

// The first of the published vectors: bytes 0, 1, 2 … under the key 0, 1 … 15.
constexpr Hash128 kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST(SipHash, GivesThePublishedVectors) {
  EXPECT_EQ(hex_of(siphash("", kKey)), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hex_of(siphash(std::string(1, '\0'), kKey)), "da87c1d86b99af44347659119b22fc45");
}

TEST(SipHash, AnyBitOfTextOrKeyChangesIt) {
  const Hash128 hash = siphash("eight by eight and a rest");
  EXPECT_NE(siphash("eight by eight and a res"), hash);
  EXPECT_NE(siphash("eight by eight and a rest", {1, 0}), hash);
  EXPECT_NE(siphash(std::string(8, '\0')), siphash(std::string(9, '\0')));
}

TEST(Hex, IsReadAsItIsWritten) {
  const Hash128 hash = siphash("a");
  EXPECT_EQ(hash_of_hex(hex_of(hash)), hash);
  EXPECT_EQ(bytes_of_hex("00ff"), std::string("\0\xff", 2));
  EXPECT_FALSE(bytes_of_hex("0"));
  EXPECT_FALSE(bytes_of_hex("0G"));
  EXPECT_FALSE(hash_of_hex("00"));
}

}  // namespace
}  // namespace memreplay
