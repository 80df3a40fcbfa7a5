#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"
#include "trace/xspace_bytes.hpp"

namespace memreplay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Address kAt = 0x7f0000000040;

Recording read(const std::string& bytes) { return read_recording("a.xplane.pb", bytes, {}); }

std::string refused(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// The regions of a trace: "SIZE at DISTANCE", in MiB from the first.
std::vector<std::string> regions(const Trace& trace) {
  std::vector<std::string> drawn;
  std::optional<Address> first;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] != Op::segment_alloc) continue;
    const Address at = trace.addresses[i];
    const auto distance = static_cast<std::int64_t>(at - first.value_or(at));
    first = first.value_or(at);
    drawn.push_back(std::to_string(trace.sizes[i] / kMiB) + " at " +
                    std::to_string(distance / static_cast<std::int64_t>(kMiB)));
  }
  return drawn;
}

TEST(XSpaceReader, CallsOfSeveralThreadsAreInTheOrderOfTime) {
  const Recording recording =
      read(xspace({{{.ps = 1000, .address = 16, .requested = 100},
                    {.ps = 9000, .address = 48, .requested = 300}},
                   {{.ps = 2000, .address = 32, .requested = 200},
                    {.ps = 2001, .allocates = false, .address = 16, .requested = 100}}},
                  512));
  EXPECT_EQ(drawn_events(recording.traces.at(0)), "a0:100 a1:200 f0:100 a0:300");
  EXPECT_THAT(recording.traces[0].threads, ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(recording.traces[0].times_us, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(recording.traces[0].gpu, -1);
}

TEST(XSpaceReader, WhatTheAllocatorCountsIsKept) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = 16, .requested = 100},
                    {.ps = 2, .address = 32, .requested = 300},
                    {.ps = 3, .allocates = false, .address = 16, .requested = 100}}}));
  EXPECT_EQ(recording.traces.at(0).stated.own_count, (OwnCount{.allocator = "cpu_bfc",
                                                               .before = 0,
                                                               .peak = 768,
                                                               .end = 512,
                                                               .limit = kXSpaceLimit,
                                                               .process_peak = 1280,
                                                               .events = 3,
                                                               .agreeing = 3}));
  EXPECT_TRUE(recording.traces[0].coverage.starts_empty);
  EXPECT_EQ(recording.strategy, "bfc:limit=1073741824,name=cpu_bfc");
  EXPECT_THAT(recording.detail, HasSubstr("whose own running sum agrees at each"));
  EXPECT_THAT(recording.detail, testing::Not(HasSubstr("somebody")));
}

TEST(XSpaceReader, BlocksFromBeforeAreThereAsFarAsTheyAreFreed) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = 16, .requested = 100},
                    {.ps = 2, .allocates = false, .address = 64, .requested = 300}}},
                  1024));
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:300 a1:100 f0:300");
  EXPECT_THAT(trace.threads, ElementsAre(0, 1, 1));
  EXPECT_EQ(trace.coverage.preexisting_blocks, 1u);
  EXPECT_EQ(trace.coverage.preexisting_bytes, 300u);
  EXPECT_FALSE(trace.coverage.starts_empty);
  EXPECT_EQ(trace.stated.own_count->before, 1024u);
  EXPECT_EQ(trace.stated.own_count->peak, 1280u);
}

TEST(XSpaceReader, OperatorsAreTagsOfAllocations) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = 16, .requested = 100, .op = "Fill"},
                    {.ps = 2, .allocates = false, .address = 16, .requested = 100, .op = "Pow"}}},
                  512));
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "Fill");
  EXPECT_EQ(trace.tags.at(1), 0u);
}

TEST(XSpaceReader, ATensorStandsBelowTheOperatorThatAllocatesIt) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = 16, .requested = 64, .op = "MatMul", .shape = "[4,4]"},
                    {.ps = 2, .address = 32, .requested = 8, .op = "MatMul"},
                    {.ps = 3, .address = 48, .requested = 8},
                    {.ps = 4, .allocates = false, .address = 16, .requested = 64, .op = "MatMul"}}},
                  512));
  std::vector<std::string> drawn;
  for (const std::uint32_t stack : recording.traces.at(0).stacks) {
    std::string& text = drawn.emplace_back();
    for (const std::uint32_t frame : recording.stacks.at(stack)) {
      text += recording.texts.at(recording.frames.at(frame).name) + ";";
    }
  }
  EXPECT_THAT(drawn, ElementsAre("MatMul;output float[4,4];", "MatMul;", "", ""));
}

TEST(XSpaceReader, RegionsAreWorkedOutFromTheBlocksAtTheirBeginnings) {
  const Trace trace =
      read(xspace({{{.ps = 1, .address = kAt, .requested = kMiB},
                    {.ps = 2, .address = kAt + kMiB, .requested = kMiB},
                    {.ps = 3, .address = kAt - 5 * kMiB, .requested = kMiB},
                    {.ps = 4, .address = kAt + 100 * kMiB, .requested = 9 * kMiB}}}))
          .traces.at(0);
  EXPECT_THAT(regions(trace), ElementsAre("2 at 0", "4 at -5", "16 at 100"));
  EXPECT_EQ(trace.addresses.at(0) % 256, 0u);
  EXPECT_THAT(trace.coverage.synthesised, Contains(std::pair<const std::string, std::uint64_t>(
                                              "regions, worked out from addresses", 3)));
}

TEST(XSpaceReader, ABlockAcrossTheEndOfARegionTellsThatThereIsOneOnly) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = kAt, .requested = kMiB},
                    {.ps = 2, .address = kAt + kMiB, .requested = 9 * kMiB}}},
                  0, "GPU_1_bfc"));
  EXPECT_THAT(regions(recording.traces.at(0)), ElementsAre("1024 at 0"));
  EXPECT_EQ(recording.traces[0].gpu, 1);
  EXPECT_EQ(recording.strategy,
            "bfc:limit=1073741824,allow_growth=false,garbage_collection=true,name=GPU_1_bfc");
}

TEST(XSpaceReader, WhereAddressesContradictThereAreNoRegions) {
  const Recording recording =
      read(xspace({{{.ps = 1, .address = kAt, .requested = kMiB},
                    {.ps = 2, .address = kAt - kMiB, .requested = 9 * kMiB}}}));
  EXPECT_TRUE(regions(recording.traces.at(0)).empty());
  EXPECT_EQ(recording.strategy, "bfc:limit=1073741824,name=cpu_bfc");
}

TEST(XSpaceReader, AProfileWithoutMemoryEventsSaysSo) {
  const Recording recording = read(field(1, field(2, std::string("/host:CPU"))));
  EXPECT_TRUE(recording.traces.empty());
  EXPECT_THAT(recording.why_no_trace, HasSubstr("without MemoryAllocation events"));
}

TEST(XSpaceReader, WhatIsDamagedIsToldByItsPlace) {
  const std::string whole = xspace({{{.ps = 1, .address = 16, .requested = 100}}});
  EXPECT_THAT(refused(whole.substr(0, 60)), HasSubstr("a.xplane.pb: byte "));
  EXPECT_THAT(refused(xspace({{{.ps = 1, .address = 16, .requested = std::uint64_t{1} << 61}}})),
              HasSubstr("less than 1 EiB"));
}

}  // namespace
}  // namespace memreplay
