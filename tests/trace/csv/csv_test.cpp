#include "trace/csv/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

Recording read(std::string_view text, const ReadOptions& options = {}) {
  return csv_reader().read({"t.csv", text}, options);
}

std::string complaint(std::string_view text, const std::string& columns = {}) {
  try {
    read(text, {.columns = columns});
  } catch (const InputError& error) {
    return error.what();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

std::vector<std::string> notes_on(std::string_view text) {
  std::vector<std::string> notes;
  read(text, {.note = [&](const std::string& note) { notes.push_back(note); }});
  return notes;
}

std::vector<std::int64_t> times(std::string_view text) { return read(text).traces.at(0).times_us; }

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

TEST(CsvReader, AFreeWithAPoolOfItsOwnIsInThatPool) {
  const Trace trace = read("op,id,size,pool\na,0,9,1:2\na,1,9,1:2\nf,0,,\nf,1,,3\n").traces.at(0);
  EXPECT_EQ(trace.pools.at(trace.lane(2).pool), (PoolId{1, 2}));
  EXPECT_EQ(trace.pools.at(trace.lane(3).pool), (PoolId{0, 3}));
}

TEST(CsvReader, AFreeThatCompletesLaterIsRequestedFirst) {
  const Trace trace =
      read("op,id,size\na,0,1\nf,0,\na,1,1\nc,0,\na,2,1\nf,1,\nf,2,\n").traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::free_requested, Op::allocate,
                                        Op::free_completed, Op::allocate, Op::free, Op::free}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, 0, 1, 0, 0, 1, 0}));
}

TEST(CsvReader, ABlockFreedLongBeforeMayStillBeCompleted) {
  const Trace trace =
      read("op,id,size,stream\na,1,8,5\nf,1,,6\na,2,9,5\nf,2,,\nc,1,,\nc,2,,\n").traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector{Op::allocate, Op::free_requested, Op::allocate,
                                    Op::free_requested, Op::free_completed, Op::free_completed}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{8, 8, 9, 9, 8, 9}));
  EXPECT_NE(trace.slots[0], trace.slots[2]);
  EXPECT_EQ(trace.lane_of[4], trace.lane_of[0]);  // asked for there, whoever freed it
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
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{0, 40, 0}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{kNoSlot, kNoSlot, kNoSlot}));
  EXPECT_EQ(trace.slot_count, 0u);
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
  EXPECT_EQ(complaint("op,id\na,0\n"),
            "t.csv:2: op 'a' needs a column 'size'; the header is 'op,id'");
}

TEST(CsvReader, HeadersThatDoNotFitAreRefused) {
  EXPECT_EQ(complaint(""), "t.csv:1: the file is empty; expected a header such as op,id,size");
  EXPECT_EQ(
      complaint("op,size\n"),
      "t.csv:1: the header has no column 'id': 'op,size'; expected id (or ptr, pointer, addr, "
      "address, buffer, buffer_id, block, block_id, alloc_id, allocation_id, handle), or "
      "--columns id=NAME");
  EXPECT_EQ(complaint("op,id,size,size\n"), "t.csv:1:12: column 'size' is named twice");
}

TEST(CsvReader, RowsThatDoNotFitAreRefused) {
  EXPECT_EQ(complaint("op,id,size\na,0\n"), "t.csv:2: 2 fields; expected 3, as in the header");
  EXPECT_EQ(complaint("op,id,size\nf,0,,\n"), "t.csv:2: 4 fields; expected 3, as in the header");
  EXPECT_EQ(complaint("op,id,size\nz,0,5\n"),
            "t.csv:2:1: op is 'z'; expected a (or alloc, malloc), f (or free), c, e, m or s "
            "(memreplay list formats csv)");
  EXPECT_EQ(complaint("op,id,size\na,x7,5\n"),
            "t.csv:2:3: id is 'x7'; expected a whole number, or 0x and hexadecimal digits");
  EXPECT_EQ(complaint("event;ptr;bytes\nmalloc; 0x7g ;5\n"),
            "t.csv:2:9: ptr is '0x7g'; expected a whole number, or 0x and hexadecimal digits");
  EXPECT_EQ(complaint("op,id,size\na,,5\n"),
            "t.csv:2:3: id is ''; expected the number of a buffer");
  EXPECT_EQ(complaint("op,id,size,align\na,0,5,48\n"),
            "t.csv:2:7: align is '48'; expected a power of two");
  EXPECT_EQ(complaint("op,id,size\na,\"0,5\n"), "t.csv:2:3: a quote that is never closed");
  EXPECT_EQ(complaint("op,id,time\nm,0,soon\n"),
            "t.csv:2:5: time is 'soon'; expected seconds, whole microseconds, or a clock such as "
            "09:15:02.25");
}

TEST(CsvReader, WhatATerminalWouldObeyIsShownAsAQuestionMark) {
  EXPECT_EQ(complaint("op,id,size\na,\x1b[2J\x7f~,5\n"),
            "t.csv:2:3: id is '?[2J?~'; expected a whole number, or 0x and hexadecimal digits");
}

TEST(CsvReader, ColumnsAndOpsHaveTheNamesThatPeopleGiveThem) {
  const std::string own = "op,id,size\na,10,4096\na,11,512\nf,10,\n";
  for (const std::string text :
       {"event,ptr,bytes\nmalloc,10,4096\nmalloc,11,512\nfree,10,\n",
        "Action,Address,Size (bytes)\nAllocate,10,4096\nALLOC,11,512\nDealloc,10,4096\n",
        "nbytes;pointer;operation\n4096;10;cudaMalloc\n512;11;new\n;10;cudaFree\n",
        "kind\tbuffer id\tsize\n+\t0xa\t4096.0\n+\t0xB\t512.0\n-\t0xA\t\n"}) {
    EXPECT_EQ(rewritten(text), own) << text;
    EXPECT_TRUE(csv_reader().recognises({"", text})) << text;
  }
}

TEST(CsvReader, EveryAliasNamesItsColumnAlone) {
  std::vector<std::string> seen;
  for (const ColumnInfo& column : csv_reader().columns) {
    for (std::string_view rest = column.aliases; !rest.empty();) {
      const std::size_t end = std::min(rest.find(", "), rest.size());
      seen.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    seen.emplace_back(column.name);
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(CsvReader, OfSeveralNamesForOneThingTheLikeliestCounts) {
  EXPECT_EQ(notes_on("event,op,id,address,size\n7,a,1,99,100\n"),
            (std::vector<std::string>{"t.csv: column 'event' is left out: 'op' is used as op "
                                      "(--columns op=NAME chooses another)",
                                      "t.csv: column 'address' is left out: 'id' is used as id "
                                      "(--columns id=NAME chooses another)"}));
}

TEST(CsvReader, AnUnknownColumnIsLeftOutAndSaid) {
  const std::string text = "op,id,size,colour,steam\na,0,100,red,1\n";
  EXPECT_EQ(rewritten(text), "op,id,size\na,0,100\n");
  EXPECT_EQ(notes_on(text),
            (std::vector<std::string>{
                "t.csv: column 'steam' is unknown and left out; did you mean 'stream'?",
                "t.csv: column 'colour' is unknown and left out"}));
  EXPECT_TRUE(notes_on("op,id,size,time_us\na,0,100,5\n").empty());
}

TEST(CsvReader, ColumnsMayBeNamedByHand) {
  const Trace trace = read("when;what;where;much;size\n2;malloc;7;100;x\n3;free;7\n",
                           {.columns = "op=what,id=where,size=much,time_ms=when"})
                          .traces.at(0);
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{100, 100}));
  EXPECT_EQ(trace.times_us, (std::vector<std::int64_t>{2000, 3000}));
  EXPECT_EQ(complaint("a,b\n", "op=a,ptr=c"),
            "t.csv:1: --columns takes ptr from 'c', which is not in the header: 'a,b'");
  EXPECT_EQ(complaint("a,b\n", "op=a,id=b,op=b"), "--columns: 'op' is there twice");
  EXPECT_EQ(complaint("a,b\n", "op=a,sise=b"),
            "--columns: unknown column 'sise'; did you mean 'size'? (memreplay list formats csv)");
  EXPECT_EQ(complaint("a,b\n", "op"),
            "--columns has 'op'; expected COLUMN=NAME,... such as id=ptr,size=bytes");
}

TEST(CsvReader, BlanksAroundFieldsAreNoPartOfThem) {
  const Recording recording =
      read(" op , id , size , tag\n a , 7 , 100 , conv 1 \n a , 8 , 1 , \" x, y \" \r\n f , 7\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ids, (std::vector<std::uint64_t>{7, 8, 7}));
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "conv 1");
  EXPECT_EQ(recording.texts.at(trace.tags.at(1)), " x, y ");
}

TEST(CsvReader, ATagOfAFileOfOurOwnKeepsItsBlanks) {
  const Recording recording = read("op,id,size,tag\na, 7,100, x \n");
  EXPECT_EQ(recording.texts.at(recording.traces.at(0).tags.at(0)), " x ");
}

TEST(CsvReader, OnlyAnAllocationNeedsAllFields) {
  EXPECT_EQ(rewritten("event,ptr,bytes,tid\nmalloc,7,100,1\nfree,7\n"),
            "op,id,size,thread\na,7,100,1\nf,7,,1\n");
}

TEST(CsvReader, AnAddressMayComeAgainOnceItIsFree) {
  EXPECT_EQ(rewritten("op,ptr,size\nmalloc,0x10,1\nfree,0x10,1\nmalloc,0x10,2\n"),
            "op,id,size\na,16,1\nf,16,\na,16,2\n");
  EXPECT_EQ(complaint("op,ptr,size\nmalloc,0x10,1\nmalloc,0x10,2\n"),
            "t.csv:3: allocation of buffer 0x10, which is live already");
}

TEST(CsvReader, WhatFailedIsARefusedRequestAndWhatFreedNothingIsCounted) {
  const Trace trace = read(
                          "Thread,Time,Action,Pointer,Size,Stream\n"
                          "1,09:15:02.000101,allocate,0x7f2a00000000,1000,0\n"
                          "1,09:15:02.000177,allocate failure,(nil),9000000000,0\n"
                          "1,09:15:02.000177,malloc,(nil),9000000000,0\n"
                          "1,09:15:02.000180,free,(nil),,0\n"
                          "1,09:15:02.000200,free,0x7f2a00000000,1000,0x2\n")
                          .traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::oom, Op::oom, Op::free}));
  EXPECT_EQ(trace.sizes[2], 9'000'000'000u);
  EXPECT_EQ(trace.times_us[3] - trace.times_us[0], 99);
  EXPECT_EQ(trace.coverage.dropped, (std::map<std::string, std::uint64_t>{{"frees of null", 1}}));
}

TEST(CsvReader, ARefusedRequestIsWrittenAsItWasRead) {
  const std::string text = "op,id,size,stream\na,0,10,0\no,,4096,7\nf,0,,0\n";
  EXPECT_EQ(rewritten(text), text);
  EXPECT_EQ(read("op,id,size\no,,\no,,0\na,0,1\n").traces.at(0).coverage.dropped,
            (std::map<std::string, std::uint64_t>{{"allocations that failed", 2}}));
}

TEST(CsvReader, AHistoryOfPyTorchAsATableLeavesOutItsSegments) {
  const std::string text =
      ",action,addr,size,stream,time_us,frames\n"
      "0,segment_alloc,4096,2097152,0,1,\"[{'line': 1, 'name': 'f'}]\"\n"
      "1,alloc,4096,512,0,1,[]\n"
      "2,free_requested,4096,512,0,2,[]\n"
      "3,free_completed,4096,512,0,2,[]\n";
  EXPECT_EQ(rewritten(text), "op,id,size,time_us\na,4096,512,1\nf,4096,,2\nc,4096,,2\n");
  EXPECT_EQ(notes_on(text),
            (std::vector<std::string>{
                "t.csv: columns '', 'frames' are unknown and left out",
                "t.csv: rows left out: segments and other events of the allocator (1)"}));
}

TEST(CsvReader, ANameSaysTheUnitOfItsTimes) {
  EXPECT_EQ(times("op,id,size,time_ns\na,0,1,1500\n"), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(times("op,id,size,timestamp_ms\na,0,1,1.5\n"), (std::vector<std::int64_t>{1500}));
  EXPECT_EQ(times("op,id,size,ts_s\na,0,1,2\n"), (std::vector<std::int64_t>{2'000'000}));
  EXPECT_EQ(times("op,id,size,time_us\na,0,1,12.75\na,1,1,14\n"),
            (std::vector<std::int64_t>{13, 14}));
  EXPECT_TRUE(notes_on("op,id,size,time_ns\na,0,1,1500\n").empty());
}

TEST(CsvReader, TimesOfAnUnsaidUnitAreSecondsWhereOneHasAFraction) {
  const std::string text = "op,id,size,timestamp\na,0,1,0\na,1,1,1\nf,0,,1.5\nf,1,,2e0\nm,,,3\n";
  EXPECT_EQ(times(text),
            (std::vector<std::int64_t>{0, 1'000'000, 1'500'000, 2'000'000, 3'000'000}));
  EXPECT_EQ(notes_on(text),
            (std::vector<std::string>{
                "t.csv: column 'timestamp' is read as seconds, because it has fractions"}));
  const std::string whole = "op,id,size,time\na,0,1,10\na,1,1,20\n";
  EXPECT_EQ(times(whole), (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(notes_on(whole),
            (std::vector<std::string>{"t.csv: column 'time' is read as microseconds (--columns "
                                      "time_ns=time for another unit)"}));
}

TEST(CsvReader, ToolsForTracesCountMicroseconds) {
  EXPECT_EQ(times("op,id,size,ts\na,0,1,10\na,1,1,12.25\n"), (std::vector<std::int64_t>{10, 12}));
  EXPECT_EQ(times("op,id,size,ts\na,0,1,00:00:01.5\n"), (std::vector<std::int64_t>{1'500'000}));
}

TEST(CsvReader, ClocksAreTimesToo) {
  EXPECT_EQ(times("op,id,size,time\na,0,1,2024-05-01 00:00:01.5\na,1,1,2024-05-01T00:00:02Z\n"),
            (std::vector<std::int64_t>{1'714'521'601'500'000, 1'714'521'602'000'000}));
  EXPECT_EQ(complaint("op,id,size,time\na,0,1,10\na,1,1,09:15:02\n"),
            "t.csv:3:7: time is '09:15:02'; expected times of one kind");
}

TEST(CsvReader, ADecimalCommaIsReadWhereSomethingElseSeparates) {
  EXPECT_EQ(times("op;id;size;time\na;0;1;0,5\n"), (std::vector<std::int64_t>{500'000}));
}

TEST(CsvReader, FreesThatContradictTheRowsBeforeAreRefused) {
  EXPECT_EQ(complaint("op,id,size\nf,88,\n"),
            "t.csv:2: free of buffer 88, which was never allocated");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nf,0,\nf,0,\n"),
            "t.csv:4: free of buffer 0, which is free already");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nc,0,\n"),
            "t.csv:3: free of buffer 0 completed without an 'f' before it");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nf,0,\nf,0,\n"),
            "t.csv:4: free of buffer 0, which is free already");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nf,0,\nc,0,\nc,0,\n"),
            "t.csv:5: free of buffer 0 completed without an 'f' before it");
  EXPECT_EQ(complaint("op,id,size\na,0,1\nf,0,\nc,1,\n"),
            "t.csv:4: free of buffer 1, which was never allocated");
  EXPECT_EQ(complaint("op,id,size\na,0,1\na,0,1\n"),
            "t.csv:3: allocation of buffer 0, which is live already");
}

TEST(CsvReader, RecognisesItsHeaderAlone) {
  const auto recognises = csv_reader().recognises;
  EXPECT_TRUE(recognises({"", "op,id,size\n"}));
  EXPECT_TRUE(recognises({"", "\xEF\xBB\xBFsize,id,op\r\n"}));
  EXPECT_FALSE(recognises({"", "a,0,5\n"}));
  EXPECT_FALSE(recognises({"", "id,lower,upper,size\n0,1,2,3\n"}));
  EXPECT_FALSE(recognises({"", "address,bytes,device,stream,pool\n"}));
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
  std::mt19937_64 random(3);
  for (const std::string good :
       {"op,id,size,stream,tag,align\na,0,100,1,\"x\",64\na,1,7,0,,\nf,0,,,,\nc,0,,,,\ne,,,,,\n",
        "event;ptr;bytes;timestamp;x\nmalloc;0x7f0;100;0,5;\n malloc;0x8f0;7.0;1;\nfree;0x7f0\n"}) {
    for (int round = 0; round < 5000; ++round) {
      std::string text = good;
      for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
      text.resize(text.size() - random() % 20);
      complaint(text, round % 5 == 0 ? "op=event,id=ptr" : "");
    }
  }
}

}  // namespace
}  // namespace memreplay
