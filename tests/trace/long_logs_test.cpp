#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace/log_reading.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

/// A log of any length: two lines, an allocation and its free, come again and again.
struct LongLog {
  std::string format;
  std::string head;
  std::string lines;
  std::string tail = {};
};

const std::vector<LongLog>& long_logs() {
  static const std::vector<LongLog> kLogs = {
      {"csv", "op,id,size\n", "a,7,100\nf,7,\n"},
      {"umpire", "",
       R"({"category":"operation","name":"allocate","numeric_args":{"size":8},"string_args":{"allocator_ref":"0x1","pointer":"0x7"},"timestamp":1}
{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x1","pointer":"0x7"},"timestamp":2}
)"},
      {"heaptrack", "v 10500 3\nt 4011d0 0\n", "+ 80 1 7f10a0\n- 7f10a0\n"},
      {"rmm", "Thread,Time,Action,Pointer,Size,Stream\n",
       "1,09:15:02.000101,allocate,0x7f,100,0\n1,09:15:02.000200,free,0x7f,100,0\n"},
      {"mtrace", "= Start\n", "@ ./a:[0x1] + 0x7f 0x40\n@ ./a:[0x2] - 0x7f\n"},
      {"malloclab", "1\n1\n2\n1\n", "a 0 100\nf 0\n"},
      {"logalloc", "", "1 1 malloc(100)=#1\n1 1 free(#1)\n"},
      {"stalloc", "", "1 0x7f 100 0\n0 0x7f 100 0\n"},
      {"kineto", R"({"schemaVersion":1,"traceEvents":[{"ph":"X"})",
       R"(,
{"ph":"i","name":"[memory]","ts":1,"args":{"Addr":7,"Bytes":8,"Device Type":1}},
{"ph":"i","name":"[memory]","ts":1,"args":{"Addr":7,"Bytes":-8,"Device Type":1}})",
       "]}\n"},
      {"lttng", "",
       R"([09:15:02.1] (+0.1) host lttng_ust_libc:malloc: { cpu_id = 2 }, { vpid = 7, vtid = 8 }, { size = 42, ptr = 0x7 }
[09:15:02.2] (+0.1) host lttng_ust_libc:free: { cpu_id = 2 }, { vpid = 7, vtid = 8 }, { ptr = 0x7 }
)"},
  };
  return kLogs;
}

std::string log_name(const testing::TestParamInfo<std::size_t>& info) {
  return long_logs().at(info.param).format;
}

/// On files of as many lines as MEMREPLAY_LOG_LINES says; not without it.
class ALongLog : public testing::TestWithParam<std::size_t> {
 protected:
  ~ALongLog() override { std::filesystem::remove(path_); }

  void write(std::uint64_t lines) const {
    const LongLog& log = long_logs().at(GetParam());
    std::ofstream file(path_, std::ios::binary);
    file << log.head;
    for (std::uint64_t line = 0; line < lines; line += 2) file << log.lines;
    file << log.tail;
  }
  /// Without room for more of its own than a few blocks of events; ends the process.
  void read_with_little_memory() const {
    constexpr rlim_t kLittle = 192 * kMiB;
    const rlimit limit{kLittle, kLittle};
    setrlimit(RLIMIT_DATA, &limit);
    std::string said = "was not streamed";
    ForgottenEvents nowhere;
    try {
      if (stream_recording(path_, {}, [&]() -> EventSink& { return nowhere; })) said = "read";
    } catch (const std::exception& error) {
      said = error.what();
    }
    std::fputs(said.c_str(), stderr);
    std::_Exit(0);
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("long_log." + std::to_string(getpid()))).string();
};

INSTANTIATE_TEST_SUITE_P(Of, ALongLog, testing::Range<std::size_t>(0, long_logs().size()),
                         log_name);

TEST_P(ALongLog, IsReadInBoundedMemory) {
  const char* lines = std::getenv("MEMREPLAY_LOG_LINES");
  if (lines == nullptr) GTEST_SKIP() << "MEMREPLAY_LOG_LINES is not set";
  write(std::strtoull(lines, nullptr, 10));
  EXPECT_EXIT(read_with_little_memory(), testing::ExitedWithCode(0), "^read$");
}

TEST(LongLogs, EveryReaderThatStreamsHasOne) {
  for (const ReaderInfo& reader : readers()) {
    EXPECT_TRUE(reader.stream == nullptr ||
                std::ranges::any_of(long_logs(),
                                    [&](const LongLog& log) { return log.format == reader.name; }))
        << reader.name;
  }
}

}  // namespace
}  // namespace memreplay
