#include "trace/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "pickle_bytes.hpp"
#include "trace/compressed.hpp"
#include "trace/reader_samples.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

class Reader : public testing::Test {
 protected:
  Reader()
      : folder_(std::filesystem::temp_directory_path() /
                ("reader_test." + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Reader() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  static std::string complaint(const std::string& path, const ReadOptions& options = {}) {
    try {
      read_recording(path, options);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  std::filesystem::path folder_;
  const std::string pickle_ =
      snapshot(entry("segment_alloc", 1 << 21, 1 << 21) + entry("alloc", 1 << 21, 512) +
               entry("free_requested", 1 << 21, 512) + entry("free_completed", 1 << 21, 512) +
               entry("segment_free", 1 << 21, 1 << 21));
};

TEST_F(Reader, CompressedFilesAreRecognisedByTheirFirstBytes) {
  Recording plain = read_recording(file("plain", pickle_));
  EXPECT_EQ(plain.format, "torch-snapshot");
  for (const std::string& packed : {gzipped(pickle_), zstandard(pickle_),
                                    gzipped(pickle_.substr(0, 40)) + gzipped(pickle_.substr(40))}) {
    Recording unpacked = read_recording(file("packed", packed));
    unpacked.path = plain.path;
    EXPECT_EQ(unpacked, plain);
  }
}

TEST_F(Reader, BytesInMemoryAreReadLikeTheirFile) {
  Recording plain = read_recording(file("plain", pickle_));
  for (const std::string& bytes : {pickle_, gzipped(pickle_)}) {
    Recording read = read_recording("<bytes>", bytes, {});
    EXPECT_EQ(read.path, "<bytes>");
    read.path = plain.path;
    EXPECT_EQ(read, plain);
  }
}

TEST_F(Reader, ARecordingAtHandIsNotLookedForAmongTheFiles) {
  ReadOptions options;
  options.at_hand = [&](const std::string& path) -> std::optional<Recording> {
    if (path == "<mine>") return read_recording(path, pickle_, {});
    return std::nullopt;
  };
  EXPECT_EQ(read_recording("<mine>", options).path, "<mine>");
  EXPECT_EQ(read_recording(file("plain", pickle_), options).format, "torch-snapshot");
  EXPECT_THAT(complaint("<other>", options), HasSubstr("cannot be opened"));
}

TEST_F(Reader, DamagedCompressionIsAnError) {
  const std::string gzip = gzipped(pickle_), zstd = zstandard(pickle_);
  for (const std::size_t cut : {2, 12, 30, 8}) {
    EXPECT_NE(complaint(file("cut.gz", gzip.substr(0, gzip.size() - cut))), "");
    EXPECT_NE(complaint(file("cut.zst", zstd.substr(0, zstd.size() - cut))), "");
  }
  EXPECT_THAT(complaint(file("short.gz", gzip.substr(0, gzip.size() - 20))),
              HasSubstr("truncated"));
  EXPECT_THAT(complaint(file("more.gz", gzip + "x")), HasSubstr("other data follows"));
}

TEST_F(Reader, WhatUnpacksToAWholeNumberOfMebibytesIsRead) {
  for (const std::size_t mebibytes : {1, 2, 3}) {
    std::string bytes = "op,id,size\n";
    while (bytes.size() < (mebibytes << 20) - 8) bytes += "a,1,8\nf,1\n"s;
    bytes.resize((mebibytes << 20) - 1, '\n');
    bytes += '\n';
    EXPECT_GT(read_recording(file("packed", zstandard(bytes))).traces.at(0).size(), 9u);
    EXPECT_GT(read_recording(file("packed", gzipped(bytes))).traces.at(0).size(), 9u);
  }
}

TEST_F(Reader, FramesAndMembersAreJoinedAndEmptyOnesSkipped) {
  const std::string csv = "op,id,size\na,0,5\n", skipped = "\x5a\x2a\x4d\x18\3\0\0\0abc"s;
  const std::size_t half = csv.size() / 2;
  const std::pair<std::string (*)(const std::string&), std::string> kinds[] = {
      {zstandard, skipped}, {gzipped, gzipped("")}};
  for (const auto& [pack, nothing] : kinds) {
    const std::string first = pack(csv.substr(0, half)), second = pack(csv.substr(half));
    const std::string whole = nothing + first + pack("") + nothing + second;
    EXPECT_EQ(read_recording(file("joined", whole)).traces.at(0).size(), 1u);
    EXPECT_EQ(complaint(file("padded", whole + std::string(600, '\0'))), "");
    EXPECT_THAT(complaint(file("more", whole + "\0x"s)), HasSubstr("other data follows it"));
    EXPECT_THAT(complaint(file("cut", whole.substr(0, whole.size() - 2))), HasSubstr("truncated"));
    EXPECT_THAT(complaint(file("none", nothing + pack(""))), HasSubstr("empty after decompress"));
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST_F(Reader, WhatUnpacksBeyondTheMemoryEndsInOneLine) {
  // A frame without a size whose blocks repeat one byte 131,072 times: 2 GiB.
  std::string bomb = "\x28\xb5\x2f\xfd\0\x58"s;
  for (int i = 0; i < 16384; ++i) bomb += "\x02\0\x10\0"s;
  const std::string path = file("bomb.zst", bomb + "\1\0\0"s);
  ReadOptions options;
  const auto read_with_little_memory = [&] {
    const rlimit limit{kGiB, kGiB};
    setrlimit(RLIMIT_AS, &limit);
    std::fputs(complaint(path, options).c_str(), stderr);
    std::exit(0);
  };
  options.format = "csv";
  EXPECT_EXIT(read_with_little_memory(), testing::ExitedWithCode(0),
              "^[^\n]*bomb.zst: is too large for the memory that there is$");
  options.format.clear();
  EXPECT_EXIT(read_with_little_memory(), testing::ExitedWithCode(0),
              "^[^\n"
              "]*bomb.zst: has no known format; ");
}
#endif

TEST_F(Reader, AMessageDeepInACompressedLogIsFound) {
  std::string log;
  while (log.size() < 3 * kMiB) log += "step " + std::to_string(log.size()) + ": loss 0.5\n";
  log +=
      "CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB "
      "already allocated; 3.03 GiB free; 1.24 GiB reserved in total by PyTorch)\n";
  for (const std::string& packed : {gzipped(log), zstandard(log)}) {
    EXPECT_TRUE(read_recording(file("log", packed), {.takes_texts = true}).text);
  }
}

TEST_F(Reader, APipeInAFolderIsNotOpened) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(seems_a_recording(pipe));
  EXPECT_TRUE(seems_a_recording(file("run.pickle", pickle_)));
}

TEST_F(Reader, WhatIsNoFileSaysSo) {
  EXPECT_EQ(complaint(folder_.string()),
            folder_.string() + ": is a directory: expected a recording");
  EXPECT_THAT(complaint((folder_ / "none").string()), HasSubstr("No such file"));
  EXPECT_THAT(complaint(file("empty", "")), HasSubstr("is empty: expected"));
}

TEST_F(Reader, TextOfTwoBytesALetterIsCalledSo) {
  const std::string wide("\xFF\xFEo\0p\0", 6);
  EXPECT_THAT(complaint(file("wide.csv", wide)), HasSubstr("is text in UTF-16; expected UTF-8"));
}

TEST_F(Reader, UnknownContentsNameTheKnownFormats) {
  EXPECT_THAT(complaint(file("zeros", std::string(1000, '\0'))),
              HasSubstr("torch-snapshot, torch-json, csv, mrt"));
}

TEST_F(Reader, EveryContentIsRecognisedByItsOwnReaderAlone) {
  std::vector<std::pair<std::string, std::string>> contents = {
      {"mrt", "\x93memreplay-mrt\n\x01"},
      {"torch-snapshot", pickle_},
      {"torch-json", R"({"segments": [], "device_traces": [[]]})"},
      {"csv", "op,id,size\na,0,5\n"},
      {"csv", "timestamp;event;ptr;bytes\n0.1;malloc;0x10;5\n"},
      {"rmm", "Thread,Time,Action,Pointer,Size,Stream\n"},
      {"csv", "Thread,Time,Action,Pointer,Size,Stream\n1,0.5,malloc,7,100,3\n"},
      {"minimalloc", "id,lower,upper,size\n0,0,4,5\n"},
      {"minimalloc", "size,buffer,start,end\n5,b,0,4\n"},
      {"umpire", R"({"category":"metadata","name":"version","timestamp":1})"},
      {"umpire",
       "# sample\n"
       R"({ "kind":"replay", "uid":1, "event": "version" })"
       "\n"},
      {"", R"({"category":1, "name":)"},
      {"heaptrack", "v 10500 3\n"},
      {"nsight", "SQLite format 3\0"s},
      {"nsight", "start,deviceId,address,bytes,memoryOperationType\n"},
      {"pasted-text", "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has\n"},
      {"", "v two\n"},
      {"", "id,lower,size\n0,0,5\n"},
      {"", "Vulkan Memory Allocator,Calls recording\n1,6\n"},
      {"mtrace", "= Start\n"},
      {"", "= Starting\n"},
      {"stalloc", "Iteration Index : 0\n1 0x7f0010 512 0\n"},
      {"", "0 0x7f0010 512\n"},
      {"kineto", R"({"schemaVersion":1,"traceEvents":[]})"},
      {"intervals", "0 9 512\n"},
      {"", "0 9 -512\n"},
      {"malloclab", "20000\n1\n1\n1\na 0 512\n"},
      {"", "20000\n1\n1\n1\n2\n"},
      {"logalloc", "1 1 malloc(42)=#1\n"},
      {"", "1 1 call 42\n"},
      {"massif", "desc: (none)\ncmd: a\ntime_unit: i\n#-----------\nsnapshot=0\n"},
      {"dhat", "{\"dhatFileVersion\":2\n,\"mode\":\"heap\"}"},
      {"pprof", "heap profile: 1: 2 [ 1: 2] @ heap\n"},
      {"pprof", "heap_v2/524288\n"},
      {"vma", R"({"Total":{"BlockCount":1,"UnusedRangeCount":1}})"},
  };
  for (const ReaderSample& sample : reader_samples()) {
    contents.emplace_back(sample.format, sample.golden());
  }
  for (const auto& [format, bytes] : contents) {
    std::vector<std::string_view> recognised;
    for (const ReaderInfo& reader : readers()) {
      if (reader.recognises({"t", bytes})) recognised.push_back(reader.name);
    }
    const auto expected =
        format.empty() ? std::vector<std::string_view>() : std::vector<std::string_view>{format};
    EXPECT_EQ(recognised, expected) << bytes;
  }
  for (const ReaderInfo& reader : readers()) {
    const bool tried =
        std::ranges::any_of(contents, [&](const auto& c) { return c.first == reader.name; });
    EXPECT_TRUE(tried) << reader.name << " has no content here";
  }
}

TEST_F(Reader, ATableOfUnknownColumnsIsShownItsHeaderAndTheWayOut) {
  const std::string path = file("hand.csv", "what;where;much\nmalloc;7;100\n");
  EXPECT_THAT(
      complaint(path),
      HasSubstr(
          "if this is a CSV table (first line: what;where;much), map its columns: --columns"));
  const ReadOptions by_hand{.columns = "op=what,id=where,size=much"};
  EXPECT_EQ(read_recording(path, by_hand).traces.at(0).size(), 1u);
  EXPECT_THAT(complaint(file("x", pickle_), by_hand), HasSubstr("of the format torch-snapshot"));
}

TEST_F(Reader, ProseIsNoTable) {
  for (const char* text : {"three models, two of them large, (so far: 3,000) were tried.\n",
                           "a warning, and another one,\nthen a line, with commas,\n"}) {
    const std::string said = complaint(file("t.txt", text));
    EXPECT_THAT(said, HasSubstr("has no known format"));
    EXPECT_THAT(said, testing::Not(HasSubstr("--columns")));
  }
}

TEST_F(Reader, OfATextItIsSaidThatNoLineOfItIsKnown) {
  const std::string path = file("t.txt", "hello\n");
  EXPECT_THAT(complaint(path, {.takes_texts = true}),
              HasSubstr("no line of it is a message about memory"));
  EXPECT_THAT(complaint(path), HasSubstr("has no known format; expected"));
}

TEST_F(Reader, WhatIsNoRecordingIsNamedAlsoWhereItIsPacked) {
  const std::string page = "<!DOCTYPE html><html><body>Not found</body></html>";
  EXPECT_THAT(complaint(file("a.pickle", page)), HasSubstr("is a web page (HTML)"));
  EXPECT_THAT(complaint(file("a.pickle.gz", gzipped(page))), HasSubstr("is a web page (HTML)"));
  EXPECT_THAT(complaint("https://host/run.pickle"), HasSubstr("is a URL; expected a file"));
}

TEST_F(Reader, APlanWithSegmentsIsNoSnapshot) {
  EXPECT_THAT(complaint(file("plan.json", R"({"segments": [{"name": "S1", "size": 4096,
"allocations": [{"offset": 0, "size": 2048, "alive_from": 0}]}]})")),
              HasSubstr("has no known format"));
}

TEST_F(Reader, AProcessIsNamedOnlyOfFormatsThatHaveSeveral) {
  const std::string path = file("t.csv", "op,id,size\na,0,5\n");
  EXPECT_THAT(complaint(path, {.process = "7"}), HasSubstr("of the format csv, which has one"));
  EXPECT_THROW(read_recording(path, {.process = "7"}), UsageError);
}

TEST_F(Reader, AnUnknownFormatSuggestsTheNearest) {
  EXPECT_THROW(read_recording(file("x", pickle_), {.format = "torch-snapshat"}), UsageError);
  EXPECT_THAT(complaint("x", {.format = "torch-snapshat"}),
              HasSubstr("did you mean 'torch-snapshot'?"));
}

}  // namespace
}  // namespace memreplay
