#include "trace/decompress.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/error.hpp"
#include "core/units.hpp"
#include "pickle_bytes.hpp"
#include "trace/compressed.hpp"

namespace memreplay {
namespace {

/// Entries of some MiB, with what some of them have besides.
std::string many_entries(const std::string& more = {}) {
  std::mt19937_64 random(1);
  std::string entries;
  while (entries.size() < 6 * kMiB) {
    const auto address = static_cast<std::int64_t>(random() % kGiB);
    entries += entry("alloc", address, 512) + entry("free_requested", address, 512) +
               entry("free_completed", address, 512, entries.size() < 3 * kMiB ? "" : more);
  }
  return entries;
}

/// A field of a name that no reader knows.
std::string unknown_field(std::uint32_t length) {
  std::string size(4, '\0');
  std::memcpy(size.data(), &length, sizeof length);
  return text("unheard_of") + "X" + size + std::string(length, 'x');
}

Recording recording(const std::string& bytes) { return read_recording("f", bytes, {}); }

std::string complaint_of(const std::string& bytes) {
  try {
    recording(bytes);
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

TEST(Unpacking, BytesArriveInOrderAndAtLastAll) {
  std::mt19937_64 random(1);
  std::string bytes(5 * kMiB + 3, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 16);
  for (const std::string& packed : {gzipped(bytes), zstandard(bytes)}) {
    const auto unpacking = Unpacking::begin({"f", packed});
    if (unpacking == nullptr) GTEST_SKIP() << "there is but one processor";
    ASSERT_EQ(unpacking->bytes().size(), bytes.size());
    for (std::size_t seen = 0; seen < bytes.size();) {
      const std::size_t arrived = unpacking->wait_beyond(seen);
      ASSERT_GT(arrived, seen);
      ASSERT_EQ(unpacking->bytes().substr(seen, arrived - seen),
                bytes.substr(seen, arrived - seen));
      seen = arrived;
    }
    EXPECT_EQ(unpacking->wait_beyond(bytes.size() + 9), bytes.size());
  }
}

TEST(Unpacking, WhoLosesInterestNeedNotWait) {
  const std::string packed = gzipped(many_entries());
  for (int i = 0; i < 5; ++i) Unpacking::begin({"f", packed});
}

TEST(Unpacking, WhatIsSmallOrSaysNothingIsNotWorthAThread) {
  EXPECT_EQ(Unpacking::begin({"f", gzipped("small")}), nullptr);
  EXPECT_EQ(Unpacking::begin({"f", zstandard("small")}), nullptr);
  // A frame of unknown length.
  EXPECT_EQ(Unpacking::begin({"f", "\x28\xb5\x2f\xfd\0\x58\x02\0\x10\0\1\0\0"s}), nullptr);
}

TEST(Unpacking, ASnapshotIsReadTheSameWhileItArrives) {
  const std::string bytes = snapshot(many_entries());
  const Recording plain = recording(bytes);
  EXPECT_GT(plain.traces.at(0).size(), 10'000u);
  EXPECT_EQ(recording(gzipped(bytes)), plain);
  EXPECT_EQ(recording(zstandard(bytes)), plain);
}

TEST(Unpacking, WhatWasReadIsGivenBack) {
  const std::string bytes = std::string(5 * kMiB, 'x') + std::string(kMiB, 'y');
  const std::string more = some_bytes(kMiB);  // no statement of much more is believed
  for (const std::string& packed : {gzipped(bytes + more), zstandard(bytes + more)}) {
    const auto unpacking = Unpacking::begin({"f", packed});
    if (unpacking == nullptr) GTEST_SKIP() << "there is but one processor";
    unpacking->wait_beyond(bytes.size() + kMiB);
    EXPECT_TRUE(unpacking->is_whole());
    unpacking->forget(5 * kMiB);
    EXPECT_FALSE(unpacking->is_whole());
    EXPECT_EQ(unpacking->bytes()[kMiB], '\0');
    EXPECT_EQ(unpacking->bytes().substr(5 * kMiB, kMiB), std::string(kMiB, 'y'));
  }
}

TEST(Unpacking, LittleArrivesBeforeItIsWaitedFor) {
  for (const std::string& packed :
       {gzipped(some_bytes(20 * kMiB)), zstandard(some_bytes(20 * kMiB))}) {
    const auto unpacking = Unpacking::begin({"f", packed});
    if (unpacking == nullptr) GTEST_SKIP() << "there is but one processor";
    for (std::size_t arrived = 0; arrived < 20 * kMiB;) {
      const std::size_t wanted = arrived;
      arrived = unpacking->wait_beyond(wanted);
      EXPECT_LE(arrived, wanted + 2 * kMiB);
    }
  }
}

TEST(Unpacking, TextsThatAreGoneAreKnown) {
  const std::string first = entry("alloc", 0, 512, text("user_metadata") + text("tag") + kMemoize);
  const std::string last = entry("alloc", 1, 512, text("user_metadata") + get(0));
  const std::string bytes = snapshot(first + many_entries() + last);
  const Recording plain = recording(bytes);
  EXPECT_EQ(recording(gzipped(bytes)), plain);
  EXPECT_EQ(recording(zstandard(bytes)), plain);
}

TEST(Unpacking, WhatHasToBeReadOtherwiseIsUnpackedAgain) {
  const std::string size = text("size") + number(512);
  const std::string first = kDict + kMemoize + kMark + text("action") + text("alloc") +
                            text("addr") + number(0) + size + text("stream") + number(0) +
                            kSetItems;
  const std::string bytes =
      snapshot(first + many_entries() + get(0) + kMark + size + kSetItems + many_entries());
  const std::string said = complaint_of(bytes);
  for (const std::string& packed : {gzipped(bytes), zstandard(bytes)}) {
    EXPECT_EQ(complaint_of(packed), said);
    if (said == "none") {
      EXPECT_EQ(recording(packed), recording(bytes));
    }
  }
}

TEST(Unpacking, AValueLongerThanWhatIsAwaitedAheadIsReadWhole) {
  for (const std::uint32_t length : {100'000u, 1'000'000u}) {
    const std::string bytes = snapshot(many_entries(unknown_field(length)));
    const Recording plain = recording(bytes);
    EXPECT_EQ(recording(gzipped(bytes + std::string(bytes.size() / 50, '.'))), plain);
    EXPECT_EQ(recording(zstandard(bytes)), plain);
  }
}

TEST(Unpacking, AFileThatStatesTheSizeOfItsLastPartIsReadWhole) {
  const std::string bytes = snapshot(many_entries());
  const Recording plain = recording(bytes);
  for (const std::size_t cut : {std::size_t{9}, bytes.size() / 3, bytes.size() - 9}) {
    const std::string first = bytes.substr(0, cut), second = bytes.substr(cut);
    EXPECT_EQ(recording(gzipped(first) + gzipped(second)), plain) << cut;
    EXPECT_EQ(recording(zstandard(first) + zstandard(second)), plain) << cut;
  }
}

TEST(Unpacking, DamageOfThePackedBytesIsToldWhateverWasReadBefore) {
  const std::string bytes = snapshot(many_entries());
  std::string wrong_sum = gzipped(bytes);
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  EXPECT_EQ(complaint_of(wrong_sum), "f: gzip data is damaged: incorrect data check");
  const std::string zstd = zstandard(bytes);
  EXPECT_EQ(complaint_of(zstd.substr(0, zstd.size() - 9)),
            "f: zstd data ends too early: the file is truncated");
  // Both: the value ends, and the bytes that follow are no data.
  EXPECT_EQ(complaint_of(gzipped(bytes + bytes) + "x"),
            "f: gzip data is damaged: other data follows it");
}

TEST(Unpacking, DamageOfTheContentIsToldAsOfTheFileItself) {
  const std::string entries = many_entries();
  for (const std::string& bytes :
       {snapshot(entries + "\xff" + entries), kProto4 + list(entries + get(99)) + kStop,
        snapshot(entries).substr(0, entries.size() - 100),
        snapshot(entries + "c" + std::string(400'000, 'm') + "\nn\n")}) {
    const std::string plain = complaint_of(bytes);
    EXPECT_NE(plain, "none");
    EXPECT_EQ(complaint_of(gzipped(bytes)), plain);
    EXPECT_EQ(complaint_of(zstandard(bytes)), plain);
  }
}

std::string unpacked(const std::string& packed) { return decompress({"f", packed}); }

std::string complaint(const std::string& packed) {
  try {
    unpacked(packed);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
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
