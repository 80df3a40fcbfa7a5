#include "trace/decompress.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/error.hpp"
#include "core/units.hpp"
#include "trace/compressed.hpp"

namespace memreplay {
namespace {

std::string unpacked(const std::string& packed) { return decompress({"f", packed}); }

std::string complaint(const std::string& packed) {
  try {
    unpacked(packed);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string some_bytes(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 16);
  return bytes;
}

TEST(Decompress, ContentsOfEverySizeComeWhole) {
  for (const std::size_t size : {0 * kMiB, Bytes{1}, kMiB - 1, kMiB + 1, 2 * kMiB + 7}) {
    const std::string bytes = some_bytes(size);
    EXPECT_TRUE(unpacked(gzipped(bytes)) == bytes) << size;
    EXPECT_TRUE(unpacked(zstandard(bytes)) == bytes) << size;
  }
}

TEST(Decompress, PiecesOneAfterTheOtherAreOneContent) {
  EXPECT_EQ(unpacked(gzipped("one,") + gzipped("two")), "one,two");
  EXPECT_EQ(unpacked(zstandard("one,") + zstandard("two")), "one,two");
}

TEST(Decompress, ZerosThatPadAFileAreNoData) {
  EXPECT_EQ(unpacked(gzipped("one") + std::string(600, '\0')), "one");
  EXPECT_EQ(complaint(gzipped("one") + std::string(600, '\0') + 'x'),
            "f: gzip data is damaged: other data follows it");
}

TEST(Decompress, WhatEndsTooEarlyIsTruncated) {
  const std::string gzip = gzipped(some_bytes(5000));
  const std::string zstd = zstandard(some_bytes(5000));
  for (const std::size_t cut : {1, 9, 300}) {
    EXPECT_EQ(complaint(gzip.substr(0, gzip.size() - cut)),
              "f: gzip data ends too early: the file is truncated");
    EXPECT_EQ(complaint(zstd.substr(0, zstd.size() - cut)),
              "f: zstd data ends too early: the file is truncated");
  }
}

TEST(Decompress, WhatIsWrongIsDamaged) {
  std::string gzip = gzipped("one");
  gzip[gzip.size() - 6] ^= 1;  // its checksum
  EXPECT_EQ(complaint(gzip), "f: gzip data is damaged: incorrect data check");
  std::string zstd = zstandard(some_bytes(5000));
  zstd[4] |= 8;  // a bit of its header that must not be set
  EXPECT_EQ(complaint(zstd), "f: zstd data is damaged: Unsupported frame parameter");
}

TEST(Decompress, OnlyWhatBeginsLikeItIsCompressed) {
  EXPECT_TRUE(is_compressed(gzipped("")));
  EXPECT_TRUE(is_compressed(zstandard("")));
  EXPECT_FALSE(is_compressed("op,id,size\n"));
  EXPECT_FALSE(is_compressed("\x1f"));
  EXPECT_FALSE(is_compressed(""));
}

}  // namespace
}  // namespace memreplay
