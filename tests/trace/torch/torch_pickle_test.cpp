#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/error.hpp"
#include "support/guarded_bytes.hpp"
#include "trace/pickle_bytes.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::size_t entries_of(const TorchSnapshot& snapshot) {
  std::size_t count = 0;
  for (const auto& trace : snapshot.device_traces) count += trace.size();
  return count;
}

// pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc", "addr": 2**40, "size": 512,
// "stream": 0}]]}, protocol)
const std::string kProtocol0 =
    "(dp0\nVsegments\np1\n(lp2\nsVdevice_traces\np3\n(lp4\n(lp5\n(dp6\nVaction\np7\nValloc\np8\n"
    "sVaddr\np9\nL1099511627776L\nsVsize\np10\nI512\nsVstream\np11\nI0\nsaas."s;
const std::string kProtocol1 =
    "}q\0(X\x08\0\0\0segmentsq\1]q\2X\x0d\0\0\0device_tracesq\3]q\4]q\5}q\6("
    "X\6\0\0\0actionq\7X\5\0\0\0"
    "allocq\x08X\4\0\0\0addrq\tL1099511627776L\nX\4\0\0\0sizeq\nM\0\2X\6\0\0\0streamq\x0bK\0uaau."s;

TEST(Pickle, ProtocolsWithoutAHeaderAreRead) {
  for (const std::string& bytes : {kProtocol0, kProtocol1}) {
    ASSERT_TRUE(is_pickle({"x", bytes}));
    const TorchSnapshot snapshot = read(bytes);
    ASSERT_EQ(entries_of(snapshot), 1u);
    EXPECT_EQ(snapshot.device_traces[0][0].address, Address{1} << 40);
    EXPECT_EQ(snapshot.device_traces[0][0].size, 512u);
  }
}

TEST(Pickle, TheProtocolIsNamed) {
  EXPECT_EQ(torch_pickle_detail({"x", kProtocol0}), "PyTorch snapshot, protocol 0");
  EXPECT_EQ(torch_pickle_detail({"x", kProtocol1}), "PyTorch snapshot, protocol 1");
  EXPECT_EQ(torch_pickle_detail({"x", snapshot({})}), "PyTorch snapshot, protocol 4");
}

TEST(Pickle, ContainersMemoisedAfterTheyAreFilledAreRead) {
  // As the C++ pickler of TorchScript writes them, protocol 2.
  const std::string bytes =
      "\x80\x02"s +
      dict("X\x0d\0\0\0device_tracesq\0"s + list(list(entry("alloc", 4096, 512) + "q\1h\1"s))) +
      kStop;
  EXPECT_EQ(entries_of(read(bytes)), 2u);
}

TEST(Pickle, AnEntryReferredToTwiceCountsTwice) {
  const std::string one = kDict + kMemoize + kMark + text("action") + text("alloc") + text("addr") +
                          number(4096) + text("size") + number(512) + kSetItems;
  const TorchSnapshot snapshot =
      read(memreplay::snapshot(one + get(0) + entry("oom", 0, 9) + get(0)));
  ASSERT_EQ(entries_of(snapshot), 4u);
  EXPECT_EQ(snapshot.device_traces[0][3].address, 4096u);
}

TEST(Pickle, BatchesOfOneAndKeysInAnyOrderAreRead) {
  const std::string keyed = kDict + text("size") + number(512) + "s" + text("addr") + number(4096) +
                            "s" + text("action") + text("alloc") + "s";
  const std::string bytes = kProto4 + kDict + text("device_traces") + kList + kList + keyed + "a" +
                            entry("free_completed", 4096, 512) + "a" + "a" + "s" + kStop;
  const TorchSnapshot snapshot = read(bytes);
  ASSERT_EQ(entries_of(snapshot), 2u);
  EXPECT_EQ(snapshot.device_traces[0][0].size, 512u);
  EXPECT_EQ(snapshot.device_traces[0][1].action, TorchAction::free_completed);
}

TEST(Pickle, AnEntryChangedAfterItWasFilledKeepsTheLastValue) {
  const std::string first = kDict + kMemoize + kMark + text("action") + text("alloc") +
                            text("addr") + number(4096) + text("size") + number(512) + kSetItems;
  const std::string change = get(0) + text("size") + number(1024) + "s";
  const TorchSnapshot snapshot = read(memreplay::snapshot(first + change));
  ASSERT_EQ(entries_of(snapshot), 2u);
  EXPECT_EQ(snapshot.device_traces[0][0].size, 1024u);
}

// Entries as Python writes nearly all of them: keys are stored with the first and referred to by
// the others, texts, pools and lists are stored as they come.
class PythonsEntries {
 public:
  std::string operator()(std::int64_t address, std::string_view tag) {
    std::string out = kDict + kMemoize + kMark;
    ++stored_;
    key(out, "action");
    key(out, "alloc");
    key(out, "addr");
    out += number(address);
    key(out, "size");
    out += "M\0\2"s;
    key(out, "stream");
    out += "K\0"s;
    key(out, "user_metadata");
    out += text(tag) + kMemoize;
    ++stored_;
    key(out, "pool_id");
    out += "K\0K\1\x86"s + kMemoize;
    ++stored_;
    key(out, "frames");
    ++stored_;
    return out + kList + kMemoize + kSetItems;
  }

 private:
  void key(std::string& out, const std::string& name) {
    const auto [place, is_new] = numbers_.emplace(name, stored_);
    out += is_new ? text(name) + kMemoize : get(place->second);
    if (is_new) ++stored_;
  }

  std::map<std::string, unsigned char> numbers_;
  unsigned char stored_ = 0;
};

const std::string kMuchBehind =
    text(std::string(200, 'x')) + "0" + text(std::string(200, 'x')) + "0";

TEST(Pickle, EntriesAsPythonWritesThemKeepEveryField) {
  PythonsEntries python;
  std::string entries;
  for (int i = 0; i < 5; ++i) entries += python(4096 * (i + 1), i == 3 ? "other" : "step");
  const TorchSnapshot snapshot = read(memreplay::snapshot(entries + kMuchBehind));
  ASSERT_EQ(entries_of(snapshot), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const TorchEntry& entry = snapshot.device_traces[0][i];
    EXPECT_EQ(entry.action, TorchAction::alloc);
    EXPECT_EQ(entry.address, 4096 * (i + 1));
    EXPECT_EQ(entry.size, 512u);
    EXPECT_EQ(snapshot.texts[entry.tag], i == 3 ? "other" : "step");
    EXPECT_EQ(snapshot.pools[entry.pool], (PoolId{0, 1}));
    EXPECT_EQ(entry.stack, 0u);
  }
}

TEST(Pickle, AnEntryOfPythonThatIsChangedLaterKeepsTheLastValue) {
  PythonsEntries python;
  std::string two = python(1, "");
  two += python(2, "");
  // The first dict stored 12 values.
  const std::string later = get(12) + text("size") + number(1024) + "s";
  const TorchSnapshot snapshot = read(memreplay::snapshot(two + later + kMuchBehind));
  ASSERT_EQ(entries_of(snapshot), 3u);
  EXPECT_EQ(snapshot.device_traces[0][1].size, 1024u);
}

TEST(Pickle, AListOfPythonThatGrowsAfterItsUseGivesTheWholeStack) {
  PythonsEntries python;
  std::string two = python(1, "");
  two += python(2, "");
  // The second entry stored itself as 12, its text, its pool and its list as 15.
  const std::string grow = get(15) + frame("f", 1) + "a" + "0";
  const TorchSnapshot snapshot = read(memreplay::snapshot(two + grow + kMuchBehind));
  ASSERT_EQ(entries_of(snapshot), 2u);
  EXPECT_EQ(snapshot.stacks[snapshot.device_traces[0][0].stack].size(), 0u);
  EXPECT_EQ(snapshot.stacks[snapshot.device_traces[0][1].stack].size(), 1u);
}

TEST(Pickle, KeysThatGetAnotherNumberAreLookedUpAnew) {
  PythonsEntries python;
  std::string entries = python(1, "");
  entries += python(2, "");
  // "size" and "stream" change places: 4 and 5 are their numbers.
  entries += text("stream") + "q\x04" + "0" + text("size") + "q\x05" + "0";
  entries += python(3, "") + kMuchBehind;
  const TorchSnapshot snapshot = read(memreplay::snapshot(entries));
  ASSERT_EQ(entries_of(snapshot), 3u);
  EXPECT_EQ(snapshot.device_traces[0][2].size, 0u);
  EXPECT_EQ(snapshot.device_traces[0][2].stream, 512u);
}

TEST(Pickle, AListOfFramesThatGrowsAfterItsUseGivesTheWholeStack) {
  const std::string frames = kList + kMemoize + kMark + frame("f", 1) + frame("g", 2) + kAppends;
  const std::string grow = get(0) + frame("h", 3) + "a" + "0";
  const TorchSnapshot snapshot =
      read(memreplay::snapshot(entry("alloc", 1, 1, text("frames") + frames) + grow));
  ASSERT_EQ(entries_of(snapshot), 1u);
  EXPECT_EQ(snapshot.stacks[snapshot.device_traces[0][0].stack].size(), 3u);
}

TEST(Pickle, AStackIsTheSameHoweverItsBatchesWereCut) {
  const std::string whole = list(frame("f", 1) + frame("g", 2) + frame("h", 3));
  const std::string cut = list(frame("f", 1) + frame("g", 2)) + frame("h", 3) + "a";
  const TorchSnapshot snapshot = read(memreplay::snapshot(
      entry("alloc", 1, 1, text("frames") + whole) + entry("alloc", 2, 1, text("frames") + cut)));
  EXPECT_EQ(snapshot.stacks.size(), 2u);
  EXPECT_EQ(snapshot.device_traces[0][0].stack, snapshot.device_traces[0][1].stack);
}

TEST(Pickle, RepeatedRunsOfFramesGiveTheSameStackAndOtherRunsAnother) {
  // Twelve frames with memo 0..11 in front, referred to in two orders.
  std::string made, forward, backward;
  for (int i = 0; i < 12; ++i) made += kDict + kMemoize + frame("f", i).substr(1);
  for (int i = 0; i < 24; ++i) forward += get(static_cast<unsigned char>(i % 12));
  for (int i = 0; i < 24; ++i) backward += get(static_cast<unsigned char>(11 - i % 12));
  const auto with = [](const std::string& gets) {
    return entry("alloc", 1, 1, text("frames") + list(gets));
  };
  const TorchSnapshot snapshot =
      read(memreplay::snapshot(entry("alloc", 1, 1, text("frames") + list(made)) + with(forward) +
                               with(backward) + with(forward) + with(backward)));
  const auto& trace = snapshot.device_traces[0];
  ASSERT_EQ(trace.size(), 5u);
  EXPECT_EQ(trace[1].stack, trace[3].stack);
  EXPECT_EQ(trace[2].stack, trace[4].stack);
  EXPECT_NE(trace[1].stack, trace[2].stack);
  EXPECT_EQ(snapshot.stacks[trace[1].stack].size(), 24u);
}

TEST(Pickle, AMemoNumberGivenAnewGivesTheNewFrame) {
  std::string run;
  for (int i = 0; i < 20; ++i) run += get(0);
  const auto with = [&](const std::string& named, const std::string& frames) {
    return named + "q\0000"s + entry("alloc", 1, 1, text("frames") + list(frames));
  };
  const TorchSnapshot snapshot = read(memreplay::snapshot(
      with(frame("f", 1), run) + with(frame("g", 2), run) + entry("alloc", 1, 1)));
  const auto& trace = snapshot.device_traces[0];
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_NE(trace[0].stack, trace[1].stack);
}

TEST(Pickle, OpcodesThatRunCodeAreRefusedWithTheirPlaceAndName) {
  EXPECT_EQ(
      complaint(kProto4 + "]cos\nsystem\n."),
      "x.pickle: byte 3: opcode GLOBAL ('os' 'system'): this file wants to run code; refused");
  EXPECT_THAT(complaint(kProto4 + text("os") + text("system") + "\x93."),
              HasSubstr("STACK_GLOBAL ('os' 'system')"));
  EXPECT_THAT(complaint("(lp0\nPxyz\n."), HasSubstr("PERSID ('xyz')"));
  for (const char op :
       "R\x81\x92"
       "bioQ\x82\x83\x84"s) {
    EXPECT_THAT(complaint(kProto4 + kList + op + "a\nb\n."), HasSubstr("wants to run code"));
  }
}

TEST(Pickle, SetsAndOutOfBandBuffersAreRefused) {
  for (const char op : "\x8f\x90\x91\x97\x98"s) {
    EXPECT_THAT(complaint(kProto4 + op + "."), HasSubstr("a snapshot has no such values"));
  }
}

TEST(Pickle, ALengthBeyondTheFileFailsAtOnce) {
  const std::string huge = "\0\0\0\0\1\0\0\0"s;
  EXPECT_EQ(complaint(kProto4 + "\x8e" + huge + std::string(50, 'x')),
            "x.pickle: byte 2: opcode BINBYTES8 claims 4,294,967,296 bytes where 50 are left: the "
            "file is truncated or damaged");
  for (const std::string op : {"\x8d", "\x96", "\x95"}) {
    EXPECT_THAT(complaint(kProto4 + op + huge + "x."), HasSubstr("claims 4,294,967,296 bytes"));
  }
  EXPECT_THAT(complaint(kProto4 + "X\xff\xff\xff\xff" + "x."), HasSubstr("claims 4,294,967,295"));
}

TEST(Pickle, BadMemoAndStackUseAreErrorsWithAPlace) {
  EXPECT_EQ(complaint(kProto4 + "h\5."),
            "x.pickle: byte 2: memo 5 was never stored; the file is damaged");
  EXPECT_THAT(complaint(kProto4 + "]r\xff\xff\xff\x7f."),
              HasSubstr("memo 2,147,483,647 in a file of"));
  for (const std::string bad : {"a.", "s.", "u.", "e.", "0.", "2.", "\x85.", "\x94.", "t.", "."}) {
    EXPECT_THAT(complaint(kProto4 + bad), StartsWith("x.pickle: byte 2: ")) << bad;
  }
  EXPECT_THAT(complaint(kProto4 + "K\1K\2a."), HasSubstr("no list"));
  EXPECT_THAT(complaint("\x80\x09."), HasSubstr("pickle protocol 9; expected 0 to 5"));
}

TEST(Pickle, NestingWithoutEndIsNoProblem) {
  const std::string lists = std::string(200000, ']') + std::string(199999, 'a') + ".";
  EXPECT_THAT(complaint(kProto4 + lists), HasSubstr("not a PyTorch snapshot"));
  EXPECT_THAT(complaint(kProto4 + std::string(5000, '(') + "."), HasSubstr("nested more than"));
}

TEST(Pickle, ContainersThatHoldThemselvesDoNotHang) {
  EXPECT_THAT(complaint(kProto4 + kList + kMemoize + get(0) + "a."),
              HasSubstr("not a PyTorch snapshot"));
  EXPECT_NE(complaint(kProto4 + kDict + kMemoize + text("segments") + get(0) + "s."), "");
  const std::string self = kList + kMemoize + get(0) + "a";
  EXPECT_NE(complaint(memreplay::snapshot(entry("alloc", 1, 1, text("frames") + self))), "");
}

TEST(Pickle, AListRepeatedWithoutEndIsRefused) {
  const std::string entries = list(entry("alloc", 1, 1) + entry("alloc", 2, 1)).insert(1, kMemoize);
  std::string again;
  for (int i = 0; i < 1000; ++i) again += get(0);
  const std::string bytes = kProto4 + dict(text("device_traces") + list(entries + again)) + kStop;
  EXPECT_THAT(complaint(bytes), HasSubstr("repeated"));
}

TEST(Pickle, EveryTruncationIsAnInputError) {
  const std::string whole = memreplay::snapshot(
      entry("alloc", 4096, 512, text("frames") + list(frame("f", 1) + frame("g", 2))) +
      entry("free_requested", 4096, 512));
  PythonsEntries python;
  std::string pythons = python(1, "a");
  for (int i = 2; i < 5; ++i) pythons += python(i, std::string(200, 'b'));
  pythons = memreplay::snapshot(pythons);
  for (const std::string& bytes : {whole, kProtocol0, kProtocol1, pythons}) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const GuardedBytes cut(std::string_view(bytes).substr(0, length));
      EXPECT_THROW(read_torch_pickle({"x", cut.bytes()}), InputError) << length;
    }
    EXPECT_EQ(complaint(bytes + "\0\0\0"s), "");
  }
}

TEST(Pickle, NothingBehindTheEndIsRead) {
  const std::string stored = kProto4 + std::string(300, 'N') + "q\1";
  const auto complaint_at_the_end = [](const std::string& bytes) -> std::string {
    const GuardedBytes guarded(bytes);
    try {
      read_torch_pickle({"x", guarded.bytes()});
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(complaint_at_the_end(stored + "h"),
            "x: byte 304: the file ends inside opcode BINGET: it is truncated");
  EXPECT_EQ(complaint_at_the_end(stored + "h\1"),
            "x: byte 306: the file ends before the opcode STOP: it is truncated");
  for (const std::string& cut : {"j"s, "j\1"s, "j\1\0"s, "j\1\0\0"s}) {
    EXPECT_EQ(complaint_at_the_end(stored + cut),
              "x: byte 304: the file ends inside opcode LONG_BINGET: it is truncated");
  }
  EXPECT_EQ(complaint_at_the_end(stored + "j\1\0\0\0"s),
            "x: byte 309: the file ends before the opcode STOP: it is truncated");
  for (int op = 0; op < 256; ++op) {
    for (const std::string operand : {"", "\1", "\x08xyz", "\1\1\1", "12\r", "\xff\xff\xff\xff"}) {
      EXPECT_NE(complaint_at_the_end(stored + static_cast<char>(op) + operand), "") << op;
    }
  }
}

TEST(Pickle, TheSignOfALongNumberIsInItsLastByte) {
  // What follows each of them, MEMOIZE twice, has the bit of the sign.
  const auto address = [](const std::string& number) {
    const auto snapshot =
        read(memreplay::snapshot(dict(text("action") + text("alloc") + text("addr") + number +
                                      kMemoize + kMemoize + text("size") + "K\1"s)));
    return snapshot.device_traces.at(0).at(0).address;
  };
  EXPECT_EQ(address("\x8a\x02\x00\x10"s), 4096u);
  EXPECT_EQ(address("\x8a\x03\x00\x80\x00"s), 0x8000u);
  EXPECT_EQ(address("\x8a\x01\xff"s), UINT64_MAX);
  EXPECT_EQ(address("\x8a\x00"s), 0u);
}

TEST(Pickle, ALargeFileTellsHowFarItIsWhereAnybodyAsks) {
  std::string entries;
  while (entries.size() < 10 * kMiB) entries += entry("alloc", 4096, 512);
  const std::string bytes = memreplay::snapshot(entries);
  std::vector<double> shares;
  const auto told = [&](double share) { shares.push_back(share); };
  read_torch_pickle({.name = "x.pickle", .bytes = bytes, .progress = told});
  ASSERT_GE(shares.size(), 2u);
  EXPECT_NEAR(shares[0], 0.4, 0.01);
  EXPECT_NEAR(shares[1], 0.8, 0.01);
  EXPECT_EQ(complaint(bytes), "");
}

}  // namespace
}  // namespace memreplay
