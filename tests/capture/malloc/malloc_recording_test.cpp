#include "malloc/malloc_recording.hpp"

#include <gtest/gtest.h>

#include "capture/spool/written_spool.hpp"
#include "trace/gate.hpp"

namespace memreplay::capture {
namespace {

using Pages = std::vector<DrawnPage<Record>>;
using Ops = std::vector<Op>;
using Sizes = std::vector<Bytes>;

struct Read {
  SpoolSummary summary;
  Recording recording;
  const Trace& trace() const { return recording.traces.front(); }
};

Read read_in(const SpoolFolder& folder, std::uint32_t process) {
  for (const SpooledProcess& one : processes_in(folder.path()).processes) {
    if (one.process != process) continue;
    Read out;
    out.recording = read_recording(one, out.summary);
    check_recording(out.recording);
    return out;
  }
  throw std::logic_error("no such process");
}

Read read(const Pages& pages) {
  const SpoolFolder folder;
  write_spool(folder.path() / "1.malloc.spool", head_of(1), pages);
  return read_in(folder, 1);
}

TEST(MallocRecording, BlocksAreNumberedAndThreadsCounted) {
  const Read is = read({{40, {record(1, Call::allocate, 64, 10), record(4, Call::free, 64)}},
                        {30, {record(2, Call::allocate, 128, 20), record(3, Call::free, 128)}}});
  EXPECT_EQ(is.trace().gpu, -1);
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate, Op::allocate, Op::free, Op::free}));
  EXPECT_EQ(is.trace().sizes, (Sizes{10, 20, 20, 10}));
  EXPECT_EQ(is.trace().threads, (std::vector<std::uint32_t>{1, 2, 2, 1}));
  EXPECT_EQ(is.trace().times_us, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(is.summary.allocations, 2);
  EXPECT_EQ(is.summary.frees, 2);
  EXPECT_EQ(is.summary.peak_bytes, 30);
}

TEST(MallocRecording, APlaceIsUsedAgain) {
  const Read is = read({{1,
                         {record(1, Call::allocate, 64, 10), record(2, Call::free, 64),
                          record(3, Call::allocate, 64, 30)}}});
  EXPECT_EQ(is.trace().slots, (std::vector<Slot>{0, 0, 0}));
  EXPECT_EQ(is.summary.live_blocks, 1);
  EXPECT_EQ(is.summary.live_bytes, 30);
}

TEST(MallocRecording, AnAlignmentIsKept) {
  const Record aligned{1, 4096, 0, described(Call::allocate, 10, 12)};
  EXPECT_EQ(read({{1, {aligned}}}).trace().align_log2.front(), 12);
}

TEST(MallocRecording, AReallocationFreesAndAllocates) {
  const Read is = read({{1,
                         {record(1, Call::allocate, 64, 10), record(2, Call::reallocating, 64),
                          record(3, Call::allocate, 128, 30)}}});
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate, Op::free, Op::allocate}));
}

TEST(MallocRecording, ARefusedReallocationKeepsItsBlock) {
  const Read is = read({{1,
                         {record(1, Call::allocate, 64, 10), record(2, Call::reallocating, 64),
                          record(3, Call::kept, 64, 999), record(4, Call::free, 64)}}});
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate, Op::oom, Op::free}));
  EXPECT_EQ(is.trace().sizes, (Sizes{10, 999, 10}));
  EXPECT_EQ(is.summary.refused, 1);
  EXPECT_EQ(is.summary.frees, 1);
}

TEST(MallocRecording, ARefusedReallocationIsThatOfItsThreadOverPages) {
  const Read is = read({{2, {record(4, Call::kept, 64, 999), record(6, Call::free, 64)}},
                        {2, {record(1, Call::allocate, 64, 10), record(2, Call::reallocating, 64)}},
                        {3, {record(3, Call::allocate, 128, 20), record(5, Call::free, 128)}}});
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate, Op::allocate, Op::oom, Op::free, Op::free}));
  EXPECT_EQ(is.trace().sizes, (Sizes{10, 20, 999, 20, 10}));
  EXPECT_EQ(is.summary.missing, 0);
}

TEST(MallocRecording, ARefusedReallocationDuringAForkKeepsTheBlockInBoth) {
  const SpoolFolder folder;
  write_spool(folder.path() / "1.malloc.spool", head_of(1),
              Pages{{1,
                     {record(1, Call::allocate, 64, 10), record(2, Call::reallocating, 64),
                      record(3, Call::kept, 64, 999)}}});
  SpoolHead child = head_of(2);
  child.first_order = 2;
  std::strcpy(child.forked_from, "1.malloc.spool");
  write_spool(folder.path() / "2.malloc.spool", child, Pages{{2, {record(3, Call::free, 64)}}});
  EXPECT_EQ(read_in(folder, 2).summary.inherited, 1);
  EXPECT_EQ(read_in(folder, 2).summary.unknown_frees, 0);
}

TEST(MallocRecording, FreesOfOlderBlocksAreCounted) {
  const Read is = read({{1, {record(1, Call::free, 64), record(2, Call::allocate, 64, 8)}}});
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate}));
  EXPECT_EQ(is.summary.unknown_frees, 1);
  EXPECT_EQ(is.trace().coverage.dropped.at("frees of blocks from before the recording"), 1);
}

TEST(MallocRecording, APlaceGivenTwiceWasFreedInBetween) {
  const Read is = read({{1, {record(1, Call::allocate, 64, 8), record(2, Call::allocate, 64, 9)}}});
  EXPECT_EQ(is.trace().ops, (Ops{Op::allocate, Op::free, Op::allocate}));
  EXPECT_EQ(is.trace().coverage.synthesised.at("frees of blocks whose place was given again"), 1);
}

TEST(MallocRecording, TimesNeverGoBack) {
  Record late = record(1, Call::allocate, 64, 8);
  late.time_ns = 9000;
  const Read is = read({{1, {late, record(2, Call::free, 64)}}});
  EXPECT_EQ(is.trace().times_us, (std::vector<std::int64_t>{9, 9}));
}

TEST(MallocRecording, AMissingPageMakesItIncomplete) {
  const Read is = read({{0, {}}, {1, {record(3, Call::free, 64)}}});
  EXPECT_EQ(is.summary.missing, 1);
  EXPECT_FALSE(is.trace().coverage.complete);
}

TEST(MallocRecording, OneThatStoppedDoesNotSayThatNothingIsMissing) {
  const SpoolFolder folder;
  SpoolHead head = head_of(1);
  head.stopped_by = 24;
  head.unrecorded_forks = 3;
  write_spool(folder.path() / "1.malloc.spool", head, Pages{{1, {record(1, Call::free, 64)}}});
  const Read is = read_in(folder, 1);
  EXPECT_EQ(is.summary.stopped_by, 24);
  EXPECT_EQ(is.summary.unrecorded_forks, 3);
  EXPECT_FALSE(is.trace().coverage.complete);
  EXPECT_FALSE(is.trace().coverage.gapless);
}

TEST(MallocRecording, AForkedProcessBeginsWithTheBlocksOfTheOther) {
  const SpoolFolder folder;
  write_spool(folder.path() / "1.malloc.spool", head_of(1),
              Pages{{1,
                     {record(1, Call::allocate, 64, 10), record(2, Call::allocate, 128, 20),
                      record(3, Call::free, 64), record(4, Call::allocate, 256, 40)}}});
  SpoolHead child = head_of(2);
  child.first_order = 3;
  std::strcpy(child.forked_from, "1.malloc.spool");
  write_spool(folder.path() / "2.malloc.spool", child,
              Pages{{2, {record(4, Call::free, 128), record(5, Call::allocate, 512, 80)}}});
  const Read is = read_in(folder, 2);
  EXPECT_EQ(is.trace().sizes, (Sizes{20, 20, 80}));
  EXPECT_EQ(is.summary.inherited, 1);
  EXPECT_EQ(is.summary.unknown_frees, 0);
  EXPECT_EQ(is.summary.allocations, 1);
  EXPECT_EQ(is.trace().coverage.synthesised.at("allocations of blocks from before the fork"), 1);
}

TEST(MallocRecording, AForkedProcessCountsNoPlacesFromBefore) {
  const SpoolFolder folder;
  DrawnPage<Record> past{1, {}};
  for (std::uint64_t i = 1; i <= 50; ++i) {
    past.records.push_back(record(i, Call::allocate, 64 * i, 10));
  }
  for (std::uint64_t i = 1; i < 50; ++i) {
    past.records.push_back(record(50 + i, Call::free, 64 * i));
  }
  write_spool(folder.path() / "1.malloc.spool", head_of(1), Pages{past});
  SpoolHead child = head_of(2);
  child.first_order = 99;
  std::strcpy(child.forked_from, "1.malloc.spool");
  write_spool(folder.path() / "2.malloc.spool", child, Pages{});
  const Read is = read_in(folder, 2);
  EXPECT_EQ(is.trace().size(), 1);
  EXPECT_EQ(is.trace().slot_count, 1);
}

}  // namespace
}  // namespace memreplay::capture
