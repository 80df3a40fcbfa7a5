#include "trace/snapshot/snapshot_checks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

std::string release_of(const std::string& json) {
  return read_torch_json({"x.json", json}).settings.oldest_release;
}

std::string of_entry(const std::string& more) {
  return release_of(R"({"segments": [], "device_traces": [[{"action": "alloc", "addr": 4096,
      "size": 512, "stream": 0)" +
                    more + "}]]}");
}

std::string of_segment(const std::string& in_segment, const std::string& in_block) {
  return release_of(R"([{"address": 4096, "total_size": 512)" + in_segment +
                    R"(, "blocks": [{"size": 512, "state": "inactive")" + in_block + "}]}]");
}

TEST(SnapshotChecks, EveryKeyShowsTheReleaseThatWritesIt) {
  EXPECT_EQ(of_entry(""), "2.0");
  EXPECT_EQ(of_entry(R"(, "time_us": 5)"), "2.2");
  EXPECT_EQ(of_entry(R"(, "compile_context": "c")"), "2.8");
  EXPECT_EQ(of_entry(R"(, "user_metadata": "u")"), "2.10");
  EXPECT_EQ(of_entry(R"(, "time_us": 5, "pool_id": [0, 1])"), "2.12");
  EXPECT_EQ(of_segment("", ""), "");
  EXPECT_EQ(of_segment("", R"(, "address": 4096)"), "2.1");
  EXPECT_EQ(of_segment(R"(, "segment_pool_id": [0, 0])", ""), "2.1");
  EXPECT_EQ(release_of(R"({"segments": [], "allocator_settings": {}})"), "2.3");
  EXPECT_EQ(release_of(R"({"segments": [], "external_annotations": []})"), "2.5");
  EXPECT_EQ(release_of(R"({"segments": [], "host_traces": []})"), "2.14");
}

TEST(SnapshotChecks, ValuesAreShownOnOneLine) {
  EXPECT_EQ(describe("a\nb\x7f"), "'a?b?'");
  EXPECT_EQ(describe(std::string_view("\x1b~ ")), "'?~ '");
  EXPECT_EQ(describe(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(describe(std::string(41, 'x')), "'" + std::string(40, 'x') + "…'");
  EXPECT_EQ(describe(WholeNumber::of(-5)), "-5");
  EXPECT_EQ(describe(WholeNumber::of(0)), "0");
  EXPECT_EQ(describe(WholeNumber{.bits = UINT64_MAX}), "18446744073709551615");
  EXPECT_EQ(describe(WholeNumber{.huge = true}), "a whole number beyond 64 bits");
  EXPECT_EQ(describe(0.5), "0.5");
}

TEST(SnapshotChecks, EveryKindHasAWord) {
  std::string words;
  for (const ValueKind kind :
       {ValueKind::none, ValueKind::boolean, ValueKind::whole, ValueKind::real, ValueKind::text,
        ValueKind::list, ValueKind::dict, ValueKind::other}) {
    words += std::string(describe(kind)) + ", ";
  }
  EXPECT_EQ(words,
            "None, a truth value, a whole number, a number, a text, a list, a dict, bytes, ");
}

}  // namespace
}  // namespace memreplay
