#include "extensions/page/answer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/control.hpp"
#include "questions/explain/answer.hpp"
#include "run/devices.hpp"
#include "run/inputs.hpp"

namespace memreplay {
namespace {

/// Blocks of growing size, each freed after the next one's request.
Inputs growing(std::uint64_t blocks) {
  const auto path = std::filesystem::path(testing::TempDir()) / "growing.csv";
  std::ofstream out(path);
  out << "op,id,size\n";
  for (std::uint64_t i = 0; i < blocks; ++i) {
    out << "a," << i << ',' << (i + 1) * 512 << '\n';
    if (i > 0) out << "f," << i - 1 << ",\n";
  }
  out.close();
  return Inputs({.paths = {path.string()}});
}

TEST(PageAnswer, ALongRecordingIsExplainedBesideItsReplaysAsByItself) {
  const Inputs inputs = growing(60'000);
  const auto devices = open_devices({}, {});
  PageQuestion question{.replay = {.strategies = {parse_strategy("torch")}},
                        .explain = {.runs = 8}};
  question.replay.setup.points = 100;
  std::string last;
  const PageAnswer page =
      answer(inputs, devices, question,
             {.progress = [&](const std::string& what, double) { last = what; }});
  const ExplainAnswer alone = answer(inputs, question.explain, {});
  ASSERT_EQ(page.devices.size(), 1u);
  ASSERT_EQ(page.devices[0].report.runs.size(), 1u);
  EXPECT_EQ(page.devices[0].placed.size(), 1u);
  const ExplainedDevice& beside = page.devices[0].explained;
  EXPECT_EQ(beside.explanation.live_peak.event, alone.devices.at(0).explanation.live_peak.event);
  ASSERT_TRUE(beside.tuned);
  EXPECT_EQ(beside.tuned->tried, alone.devices[0].tuned->tried);
  EXPECT_FALSE(page.devices[0].settings.empty());
  EXPECT_FALSE(last.empty());
}

}  // namespace
}  // namespace memreplay
