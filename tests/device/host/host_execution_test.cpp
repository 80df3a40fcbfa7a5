#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "device/host/host_memory.hpp"
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

}  // namespace
}  // namespace memreplay
