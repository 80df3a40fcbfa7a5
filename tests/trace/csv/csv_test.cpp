#include "trace/csv/csv.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/error.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

Recording read(std::string_view text) { return csv_reader().read({"t.csv", text}); }

std::string complaint(std::string_view text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string rewritten(std::string_view text) {
  const Recording recording = read(text);
  return write_csv(recording, recording.traces.at(0));
}

TEST(CsvReader, EveryRowIsAnEvent) {
  const Trace trace = read("op,id,size\na,0,100\na,1,0\nf,0,\nf,1,\n").traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::allocate, Op::free, Op::free}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{100, 0, 100, 0}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, 1, 0, 1}));
  EXPECT_EQ(trace.ids, (std::vector<std::uint64_t>{0, 1, 0, 1}));
  EXPECT_TRUE(trace.times_us.empty());
}

TEST(CsvReader, ColumnsComeInAnyOrder) {
  const Recording recording = read(
      "time_us,tag,end,freed_before,align,thread,pool,stream,size,id,op\n"
      "17,\"a, \"\"b\"\"\",upper,3,512,4,1:2,9,100,5,a\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.times_us.at(0), 17);
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "a, \"b\"");
  EXPECT_EQ(trace.upper_end.at(0), 1);
  EXPECT_EQ(trace.freed_before.at(0), 3u);
  EXPECT_EQ(trace.align_log2.at(0), 9);
  EXPECT_EQ(trace.threads.at(0), 4u);
  EXPECT_EQ(trace.pools.at(trace.lane(0).pool), (PoolId{1, 2}));
  EXPECT_EQ(trace.streams.at(trace.lane(0).stream), 9u);
}

TEST(CsvReader, ByteOrderMarkCarriageReturnsAndAMissingLastNewlineAreFine) {
  const Trace trace = read("\xEF\xBB\xBFop,id,size\r\na,0,100\r\nf,0,").traces.at(0);
  EXPECT_EQ(trace.size(), 2u);
}

TEST(CsvReader, AFreeThatDoesNotSayWhereItComesFromComesFromItsBlock) {
  const Trace trace =
      read("op,id,size,stream,thread\na,0,9,7,3\na,1,9,7,3\nf,0,,,\nf,1,,8,4\n").traces.at(0);
  EXPECT_EQ(trace.streams.at(trace.lane(2).stream), 7u);
  EXPECT_EQ(trace.streams.at(trace.lane(3).stream), 8u);
  EXPECT_EQ(trace.threads, (std::vector<std::uint32_t>{3, 3, 3, 4}));
}

TEST(CsvReader, AFreeThatCompletesLaterIsRequestedFirst) {
  const Trace trace =
      read("op,id,size\na,0,1\nf,0,\na,1,1\nc,0,\na,2,1\nf,1,\nf,2,\n").traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::free_requested, Op::allocate,
                                        Op::free_completed, Op::allocate, Op::free, Op::free}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, 0, 1, 0, 0, 1, 0}));
}

TEST(CsvReader, AnIdMayNameAnotherBufferAfterItsFree) {
  const Trace trace = read("op,id,size\na,0,1\nf,0,\na,0,2\nf,0,\nc,0,\n").traces.at(0);
  EXPECT_EQ(trace.ops[1], Op::free);
  EXPECT_EQ(trace.ops[3], Op::free_requested);
  EXPECT_EQ(trace.sizes[4], 2u);
}

TEST(CsvReader, MarkersFrontiersAndEmptyingTheCacheConcernNoBuffer) {
  const Recording recording = read("op,id,size,tag\nm,,,step 1\ns,,40,\ne,,,\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::marker, Op::safe_frontier, Op::empty_cache}));
  EXPECT_EQ(trace.sizes[1], 40u);
  EXPECT_EQ(trace.slots[0], kNoSlot);
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "step 1");
}

TEST(CsvReader, EachDeviceHasATraceOfItsOwn) {
  const Recording recording = read("op,id,size,device\na,0,1,2\na,0,5,0\nf,0,,2\n");
  ASSERT_EQ(recording.traces.size(), 2u);
  EXPECT_EQ(recording.traces[0].gpu, 0);
  EXPECT_EQ(recording.traces[1].gpu, 2);
  EXPECT_EQ(recording.traces[1].size(), 2u);
}

TEST(CsvReader, AWordForASizeIsNamedByLineAndColumn) {
  EXPECT_EQ(complaint("op,id,size\na,0,1\na,1,4k6\n"),
            "t.csv:3:5: size is '4k6'; expected bytes as a whole number");
  EXPECT_EQ(complaint("op,tag,id,size\na,\"é\n\",0,4k6\n"),
            "t.csv:3:5: size is '4k6'; expected bytes as a whole number");
}

TEST(CsvReader, SizesThatAreNoSizesAreRefused) {
  EXPECT_EQ(complaint("op,id,size\na,0,-5\n"),
            "t.csv:2:5: size is '-5'; expected bytes as a whole number");
  EXPECT_EQ(complaint("op,id,size\na,0,99999999999999999999\n"),
            "t.csv:2:5: size is '99999999999999999999'; expected at most 18446744073709551615");
  EXPECT_EQ(complaint("op,id,size\na,0,\n"),
            "t.csv:2:5: size is ''; expected bytes as a whole number");
  EXPECT_EQ(complaint("op,id\na,0\n"), "t.csv:2: op 'a' needs a column 'size'");
}

TEST(CsvReader, HeadersThatDoNotFitAreRefused) {
  EXPECT_EQ(complaint(""), "t.csv:1: the file is empty; expected a header such as op,id,size");
  EXPECT_EQ(complaint("op,size\n"),
            "t.csv:1: the header has no column 'id'; expected at least op,id");
  EXPECT_EQ(complaint("op,id,size,size\n"), "t.csv:1:12: column 'size' is named twice");
  EXPECT_EQ(complaint("op,id,siez\n"),
            "t.csv:1:7: column 'siez' is unknown; did you mean 'size'?; expected some of "
            "op,id,size,stream,device,pool,thread,time_us,align,tag,freed_before,end");
}

TEST(CsvReader, RowsThatDoNotFitAreRefused) {
  EXPECT_EQ(complaint("op,id,size\na,0\n"), "t.csv:2: 2 fields; expected 3, as in the header");
  EXPECT_EQ(complaint("op,id,size\nz,0,5\n"), "t.csv:2:1: op is 'z'; expected a, f, c, e, m or s");
  EXPECT_EQ(complaint("op,id,size\na,x7,5\n"), "t.csv:2:3: id is 'x7'; expected a whole number");
  EXPECT_EQ(complaint("op,id,size\na,,5\n"),
            "t.csv:2:3: id is ''; expected the number of a buffer");
  EXPECT_EQ(complaint("op,id,size,align\na,0,5,48\n"),
            "t.csv:2:7: align is '48'; expected a power of two");
  EXPECT_EQ(complaint("op,id,size\na,\"0,5\n"), "t.csv:2:3: a quote that is never closed");
}

TEST(CsvReader, FreesThatContradictTheRowsBeforeAreRefused) {
  EXPECT_EQ(complaint("op,id,size\nf,88,\n"),
            "t.csv:2: free of buffer 88, which was never allocated");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nf,0,\nf,0,\n"),
            "t.csv:4: free of buffer 0, which is free already");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nc,0,\n"),
            "t.csv:3: free of buffer 0 completed without an 'f' before it");
  EXPECT_EQ(complaint("op,id,size\na,0,1\na,0,1\n"),
            "t.csv:3: allocation of buffer 0, which is live already");
}

TEST(CsvReader, RecognisesItsHeaderAlone) {
  const auto recognises = csv_reader().recognises;
  EXPECT_TRUE(recognises({"", "op,id,size\n"}));
  EXPECT_TRUE(recognises({"", "\xEF\xBB\xBFsize,id,op\r\n"}));
  EXPECT_FALSE(recognises({"", "a,0,5\n"}));
  EXPECT_FALSE(recognises({"", "\"op"}));
  EXPECT_FALSE(recognises({"", ""}));
}

TEST(CsvWriter, WritesOnlyColumnsThatSaySomething) {
  EXPECT_EQ(rewritten("tag,stream,op,size,id\n,0,a,5,3\n,0,f,,3\n"), "op,id,size\na,3,5\nf,3,\n");
}

TEST(CsvWriter, GivesItsOwnTextAgain) {
  const std::string text =
      "op,id,size,stream,device,pool,thread,time_us,align,tag,freed_before,end\n"
      "a,7,100,0,1,0,3,10,512,\"x, \"\"y\"\"\",4,upper\n"
      "a,8,0,9,1,1:2,0,11,,,,\n"
      "f,7,,0,1,0,0,12,,,,\n"
      "e,,,0,1,0,0,13,,,,\n"
      "c,7,,0,1,0,0,14,,,,\n"
      "s,,21,0,1,0,0,15,,,,\n"
      "m,,,0,1,0,0,-16,,step 2,,\n"
      "f,8,,9,1,1:2,0,17,,,,\n";
  EXPECT_EQ(rewritten(text), text);
}

TEST(CsvWriter, BlocksFromBeforeTheRecordingBecomeAllocations) {
  TraceBuilder builder(0);
  const std::uint16_t lane = builder.lane(0, {});
  const Slot live = builder.take_slot();
  const Slot pending = builder.take_slot();
  builder.trace().start.segments = {{.address = 4096,
                                     .size = 4096,
                                     .blocks = {{.address = 4096,
                                                 .size = 512,
                                                 .requested = 500,
                                                 .state = BlockState::allocated,
                                                 .slot = live},
                                                {.address = 4608,
                                                 .size = 512,
                                                 .requested = 400,
                                                 .state = BlockState::pending,
                                                 .slot = pending},
                                                {.address = 5120, .size = 3072}}}};
  builder.add(Op::segment_alloc, lane, kNoSlot, 4096);
  builder.add(Op::free_completed, lane, pending, 400);
  builder.add(Op::free_requested, lane, live, 500);  // never completed: in use to the end
  Recording recording;
  recording.traces.push_back(builder.finish());
  const std::string text = write_csv(recording, recording.traces[0]);
  EXPECT_EQ(text, "op,id,size\na,0,500\na,1,400\nf,1,\nc,1,\n");
  EXPECT_EQ(rewritten(text), text);
}

TEST(CsvReader, DamagedTextIsReadOrRefusedAndNothingElse) {
  const std::string good =
      "op,id,size,stream,tag,align\na,0,100,1,\"x\",64\na,1,7,0,,\nf,0,,,,\nc,0,,,,\ne,,,,,\n";
  std::mt19937_64 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::string text = good;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    text.resize(text.size() - random() % 20);
    complaint(text);
  }
}

}  // namespace
}  // namespace memreplay
