#include "device/host/host_memory.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "core/error.hpp"
#include "device/host/pointer.hpp"

namespace memreplay {
namespace {

/// The own heap of the tests and the loader come and go beside what is measured.
constexpr Bytes kNoise = 4 * kMiB;

class Host : public testing::Test {
 protected:
  std::uint8_t& byte(Address at) { return *pointer_to<std::uint8_t>(at); }
  void fill(Address at, Bytes size) {
    memory_->execution().fill(0, {at, size}, 1, Touch::all);
    memory_->sample();
  }

  std::unique_ptr<RealMemory> memory_ = open_host_memory();
  Bytes page_ = memory_->facts().granularity;
};

TEST_F(Host, FactsAreThoseOfTheMachine) {
  const RealMemoryFacts& facts = memory_->facts();
  EXPECT_EQ(facts.kind, "host");
  EXPECT_FALSE(facts.name.empty());
  EXPECT_EQ(facts.granularity % 4096, 0u);
  EXPECT_GT(facts.total, 64 * kMiB);
  EXPECT_LE(memory_->free_bytes(), facts.total);
  EXPECT_FALSE(facts.has_display);
}

TEST_F(Host, ARegionCanBeWrittenAndComesAsWholePages) {
  const Bytes before = memory_->free_bytes();
  const auto region = memory_->allocate(page_ + 1);
  ASSERT_TRUE(region);
  EXPECT_EQ(*region % page_, 0u);
  byte(*region) = 1;
  byte(*region + page_) = 2;
  EXPECT_LE(memory_->free_bytes(), before - 2 * page_);
  memory_->free(*region);
}

TEST_F(Host, WhatWasPromisedIsNotPromisedTwice) {
  const Bytes free = memory_->free_bytes();
  EXPECT_FALSE(memory_->allocate(UINT64_MAX));
  EXPECT_FALSE(memory_->allocate(memory_->facts().total + page_));
  const auto most = memory_->allocate(free / 4 * 3);  // no page of it is touched
  ASSERT_TRUE(most);
  EXPECT_FALSE(memory_->allocate(free / 2));
  if (memory_->facts().has_virtual_memory) {
    EXPECT_FALSE(memory_->create(round_up(free / 2, page_)));
  }
  memory_->free(*most);
  const auto again = memory_->allocate(free / 2);
  ASSERT_TRUE(again);
  memory_->free(*again);
}

TEST_F(Host, RegionsThatAreNotThereAreMisuse) {
  const auto region = memory_->allocate(page_);
  EXPECT_THROW(memory_->free(*region + 1), std::logic_error);
  memory_->free(*region);
  EXPECT_THROW(memory_->free(*region), std::logic_error);
}

TEST_F(Host, MemoryIsInUseWhenItIsTouchedAndNoLongerWhenItIsFreed) {
  memory_->begin_measuring();
  const auto region = memory_->allocate(64 * kMiB);
  EXPECT_LT(memory_->measured().used, kNoise);
  fill(*region, 32 * kMiB);
  const MeasuredMemory half = memory_->measured();
  EXPECT_GE(half.used + kNoise, 32 * kMiB);
  EXPECT_LT(half.used, 32 * kMiB + kNoise);
  EXPECT_GT(half.minor_faults, 0u);
  memory_->free(*region);
  const MeasuredMemory after = memory_->measured();
  EXPECT_LT(after.used, kNoise);
  EXPECT_GE(after.peak_used + kNoise, 32 * kMiB);
  memory_->begin_measuring();
  EXPECT_LT(memory_->measured().peak_used, kNoise);
}

TEST_F(Host, AllocatorsOfAGpuAreNotHere) {
  EXPECT_THROW(memory_->open_allocator({.kind = DriverAllocatorOptions::Kind::direct}), UsageError);
  EXPECT_THROW(memory_->open_allocator({.kind = DriverAllocatorOptions::Kind::stream_ordered}),
               UsageError);
  EXPECT_TRUE(memory_->open_allocator({.kind = DriverAllocatorOptions::Kind::malloc}));
}

/// Needs a file without a name, which a limit of file sizes forbids.
class HostPieces : public Host {
 protected:
  void SetUp() override {
    if (!memory_->facts().has_virtual_memory) GTEST_SKIP() << "no virtual memory here";
  }
  Address reserve(Bytes pages) { return memory_->reserve(pages * page_).value(); }
  RealMemory::Piece create(Bytes pages) { return memory_->create(pages * page_).value(); }
  void map(Address at, Bytes pages, RealMemory::Piece piece) {
    memory_->map(at, pages * page_, piece);
    memory_->set_access(at, pages * page_);
  }
};

TEST_F(HostPieces, PiecesSideBySideAreOneRange) {
  const Address at = reserve(8);
  const auto low = create(1), high = create(3);
  memory_->map(at, page_, low);
  memory_->map(at + page_, 3 * page_, high);
  memory_->set_access(at, 4 * page_);
  memory_->execution().fill(0, {at, 4 * page_}, 3, Touch::all);
  memory_->execution().check(0, {at, 4 * page_}, 3, Touch::all);
  EXPECT_TRUE(memory_->execution().mismatches().empty());
  memory_->unmap(at, page_);
  memory_->unmap(at + page_, 3 * page_);
  memory_->destroy(low);
  memory_->destroy(high);
  memory_->release(at, 8 * page_);
}

TEST_F(HostPieces, APieceMappedTwiceIsOneMemory) {
  const Address at = reserve(4);
  const auto piece = create(1);
  map(at, 1, piece);
  map(at + 2 * page_, 1, piece);
  byte(at + 5) = 42;
  EXPECT_EQ(byte(at + 2 * page_ + 5), 42);
  memory_->unmap(at, page_);
  EXPECT_EQ(byte(at + 2 * page_ + 5), 42);
  EXPECT_THROW(memory_->destroy(piece), std::logic_error);
  memory_->unmap(at + 2 * page_, page_);
  memory_->destroy(piece);
  memory_->release(at, 4 * page_);
}

TEST_F(HostPieces, WhatIsInAPieceStaysWhenItIsMappedElsewhere) {
  const Address at = reserve(2);
  const auto piece = create(1);
  map(at, 1, piece);
  byte(at) = 7;
  memory_->unmap(at, page_);
  map(at + page_, 1, piece);
  EXPECT_EQ(byte(at + page_), 7);
  memory_->unmap(at + page_, page_);
  memory_->destroy(piece);
  memory_->release(at, 2 * page_);
}

TEST_F(HostPieces, ADestroyedPieceGivesItsMemoryBack) {
  constexpr Bytes kSize = 32 * kMiB;
  const Bytes free = memory_->free_bytes();
  memory_->begin_measuring();
  const Address at = *memory_->reserve(kSize);
  const auto piece = *memory_->create(kSize);
  memory_->map(at, kSize, piece);
  memory_->set_access(at, kSize);
  fill(at, kSize);
  EXPECT_GE(memory_->measured().used + kNoise, kSize);
  memory_->unmap(at, kSize);
  memory_->destroy(piece);
  EXPECT_LT(memory_->measured().used, kNoise);
  EXPECT_GE(memory_->measured().peak_used + kNoise, kSize);
  EXPECT_GT(memory_->free_bytes() + 2 * kSize, free - free / 4);
  memory_->release(at, kSize);
}

TEST_F(HostPieces, AddressesCostNothing) {
  const auto huge = memory_->reserve(4 * kTiB);
  ASSERT_TRUE(huge);
  memory_->release(*huge, 4 * kTiB);
  EXPECT_FALSE(memory_->reserve(Bytes{1} << 60));
}

TEST_F(HostPieces, MisuseIsFoundBeforeItDoesHarm) {
  const Address at = reserve(4);
  const auto piece = create(2);
  EXPECT_THROW(memory_->map(at, page_, piece), std::logic_error);  // a part of it
  EXPECT_THROW(memory_->map(at + 3 * page_, 2 * page_, piece), std::logic_error);
  EXPECT_THROW(memory_->map(at, 2 * page_, piece + 1), std::logic_error);
  EXPECT_THROW(memory_->set_access(at, page_), std::logic_error);
  memory_->map(at + page_, 2 * page_, piece);
  EXPECT_THROW(memory_->map(at, 2 * page_, piece), std::logic_error);
  EXPECT_THROW(memory_->map(at + 2 * page_, 2 * page_, piece), std::logic_error);
  EXPECT_THROW(memory_->unmap(at + page_, page_), std::logic_error);
  EXPECT_THROW(memory_->release(at, 4 * page_), std::logic_error);
  EXPECT_THROW(memory_->release(at, 2 * page_), std::logic_error);
  EXPECT_THROW(memory_->destroy(piece + 1), std::logic_error);
  EXPECT_THROW(memory_->reserve(page_ + 1), std::logic_error);
  EXPECT_THROW(memory_->create(0), std::logic_error);
  memory_->unmap(at + page_, 2 * page_);
  memory_->destroy(piece);
  memory_->release(at, 4 * page_);
  EXPECT_THROW(memory_->release(at, 4 * page_), std::logic_error);
}

TEST_F(HostPieces, ThousandsOfPiecesMapAndGo) {
  constexpr Bytes kPieces = 4000;
  const Address at = reserve(kPieces);
  for (int round = 0; round < 3; ++round) {
    std::vector<RealMemory::Piece> pieces;
    for (Bytes n = 0; n < kPieces; ++n) pieces.push_back(create(1));
    for (Bytes n = 0; n < kPieces; ++n) memory_->map(at + n * page_, page_, pieces[n]);
    memory_->set_access(at, kPieces * page_);
    byte(at + kPieces / 2 * page_) = 1;
    for (Bytes n = 0; n < kPieces; ++n) memory_->unmap(at + n * page_, page_);
    for (const auto piece : pieces) memory_->destroy(piece);
  }
  memory_->release(at, kPieces * page_);
}

}  // namespace
}  // namespace memreplay
