#include "device/host/host_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/error.hpp"
#include "device/host/pointer.hpp"

namespace memreplay {
namespace {

constexpr Bytes kPage = kTouchStride;

/// Memory from a multiple of 4 KiB on, all bytes 0xEE.
class SomeMemory {
 public:
  explicit SomeMemory(Bytes size) : bytes_(size + kPage, 0xEE) {}

  Address at(Bytes offset) const {
    return round_up(reinterpret_cast<Address>(bytes_.data()), kPage) + offset;
  }
  std::uint8_t& operator[](Bytes offset) { return *pointer_to<std::uint8_t>(at(offset)); }
  RealRange range(Bytes from, Bytes to) const { return {at(from), to - from}; }
  bool untouched(Bytes offset) { return (*this)[offset] == 0xEE; }
  bool touched(Bytes offset, std::uint64_t tag) {
    return (*this)[offset] == touch_byte(tag, at(offset));
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Whether a byte of [from, to) is touched with edges, by the words of the contract.
bool on_an_edge(Bytes offset, Bytes from, Bytes to) {
  if (offset < from || offset >= to) return false;
  const Bytes word = offset / kTouchWord;
  return word == from / kTouchWord || word == (to - 1) / kTouchWord ||
         word * kTouchWord % kTouchStride == 0;
}

TEST(HostExecution, EveryByteOfARangeIsWrittenAndNoneBeside) {
  constexpr std::uint64_t kTag = 77;
  HostExecution execution;
  for (const Bytes from : {8, 11, 15}) {
    for (const Bytes size : {1, 4, 5, 8, 13, 16, 100, 8192}) {
      SomeMemory memory(3 * kPage);
      execution.fill(0, memory.range(from, from + size), kTag, Touch::all);
      for (Bytes offset = 0; offset < from + size + 16; ++offset) {
        const bool inside = offset >= from && offset < from + size;
        ASSERT_TRUE(inside ? memory.touched(offset, kTag) : memory.untouched(offset)) << offset;
      }
      execution.check(0, memory.range(from, from + size), kTag, Touch::all);
      EXPECT_TRUE(execution.mismatches().empty());
    }
  }
}

TEST(HostExecution, EdgesAreTheFirstAndLastBytesAndAWordOfEveryPage) {
  constexpr std::uint64_t kTag = 5;
  HostExecution execution;
  for (const auto& [from, to] : std::vector<std::pair<Bytes, Bytes>>{{0, 1},
                                                                     {3, 6},
                                                                     {5, 12},
                                                                     {8, 16},
                                                                     {0, 3 * kPage},
                                                                     {kPage - 3, 2 * kPage + 3},
                                                                     {24, kPage},
                                                                     {24, kPage + 8},
                                                                     {4091, 3 * kPage - 1}}) {
    SomeMemory memory(4 * kPage);
    execution.fill(0, memory.range(from, to), kTag, Touch::edges);
    for (Bytes offset = 0; offset < 4 * kPage; ++offset) {
      ASSERT_TRUE(on_an_edge(offset, from, to) ? memory.touched(offset, kTag)
                                               : memory.untouched(offset))
          << from << ".." << to << " at " << offset;
    }
    execution.check(0, memory.range(from, to), kTag, Touch::edges);
    EXPECT_TRUE(execution.mismatches().empty());
  }
}

TEST(HostExecution, TheLowestByteThatDiffersIsNamed) {
  constexpr std::uint64_t kTag = 123456789;
  HostExecution execution;
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    SomeMemory memory(5 * kPage);
    const Bytes from = random() % 64, to = from + 1 + random() % (4 * kPage);
    execution.fill(0, memory.range(from, to), kTag, Touch::all);
    const Bytes first = from + random() % (to - from);
    const Bytes second = first + random() % (to - first);
    memory[first] ^= 1;
    if (second != first) memory[second] ^= 128;
    execution.check(0, memory.range(from, to), kTag, Touch::all);
    const auto found = execution.mismatches();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tag, kTag);
    EXPECT_EQ(found[0].address, memory.at(first));
    EXPECT_TRUE(execution.mismatches().empty());
  }
}

TEST(HostExecution, WithEdgesOnlyTheEdgesAreCompared) {
  HostExecution execution;
  SomeMemory memory(3 * kPage);
  execution.fill(0, memory.range(0, 2 * kPage), 9, Touch::edges);
  memory[100] = 0;
  execution.check(0, memory.range(0, 2 * kPage), 9, Touch::edges);
  EXPECT_TRUE(execution.mismatches().empty());
  memory[kPage + 7] ^= 1;
  execution.check(0, memory.range(0, 2 * kPage), 9, Touch::edges);
  ASSERT_EQ(execution.mismatches().size(), 1u);
}

TEST(HostExecution, ABlockOfSeveralRangesIsNamedOnceAndTheOthersInOrder) {
  HostExecution execution;
  SomeMemory memory(2 * kPage);
  for (const std::uint64_t tag : {1, 2, 3}) {
    execution.fill(0, memory.range(tag * 256, tag * 256 + 64), tag, Touch::all);
    execution.fill(0, memory.range(tag * 256 + 128, tag * 256 + 192), tag, Touch::all);
  }
  for (const Bytes broken : {256 + 130, 256 + 2, 512 + 150}) memory[broken] ^= 1;
  for (const std::uint64_t tag : {2, 3, 1}) {
    execution.check(0, memory.range(tag * 256 + 128, tag * 256 + 192), tag, Touch::all);
    execution.check(0, memory.range(tag * 256, tag * 256 + 64), tag, Touch::all);
  }
  const auto found = execution.mismatches();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tag, 2u);
  EXPECT_EQ(found[1].tag, 1u);
  EXPECT_EQ(found[1].address, memory.at(256 + 2));
}

TEST(HostExecution, AllStreamsAreOne) {
  HostExecution execution;
  EXPECT_TRUE(execution.same(0, 7));
  const Execution::Point point = execution.record(3);
  execution.wait(point);
  execution.wait(StreamIndex{4}, point);
  execution.forget(point);
  execution.synchronise();
}

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
