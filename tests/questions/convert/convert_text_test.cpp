#include <gtest/gtest.h>

#include "questions/convert/convert_report.hpp"
#include "support/runs.hpp"

namespace memreplay {
namespace {

using Remarks = std::vector<std::string>;

TEST(ConvertRemarks, NothingIsSaidOfAPlainConversion) {
  EXPECT_EQ(remarks({.path = "in.csv", .runs = {run_of("torch", {})}}, "out.json"), Remarks{});
}

TEST(ConvertRemarks, WhatIsLeftOutIsNamed) {
  const ConvertAnswer answer{
      .path = "in.pickle", .left_out = {{"pinned entries", 3}}, .unknown_settings = "secret:1"};
  EXPECT_EQ(remarks(answer, "out.json"),
            (Remarks{"in.pickle: left out: 3 pinned entries",
                     "in.pickle: its settings 'secret:1' have unknown options; left out"}));
}

TEST(ConvertRemarks, ServedRefusalsAreCounted) {
  ConvertAnswer answer{.path = "in.csv", .runs = {run_of("torch", {})}};
  answer.runs[0].metrics.recorded_ooms_served = 1;
  EXPECT_EQ(remarks(answer, "out.json"),
            Remarks{"in.csv: served here, but refused when recorded: 1 request; each is in "
                    "out.json as a block freed at once"});
}

TEST(ConvertRemarks, OfALateStartTheProgramItselfIsEstimated) {
  ConvertAnswer answer{.path = "in.pickle", .runs = {run_of("torch", {.reserved = 6 * kMiB})}};
  answer.runs[0].interval = RunInterval{.peak_reserved = {5 * kMiB, 7 * kMiB}};
  EXPECT_EQ(remarks(answer, "out.json"),
            Remarks{"out.json: the source recording starts late; under torch the program is "
                    "estimated to reserve ≈ 6 MiB (5 MiB to 7 MiB) at its peak"});
}

}  // namespace
}  // namespace memreplay
