#include "report/parts/plot.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/units.hpp"

namespace memreplay {
namespace {

constexpr auto kMi = static_cast<std::int64_t>(kMiB);

RunPicture steps() {
  RunPicture picture{.from = 0, .to = 100, .fullest = 26};
  picture.allocated = {{0, 0}, {1, 600 * kMi}, {51, 200 * kMi}};
  picture.reserved = {{0, 0}, {1, 600 * kMi}, {26, 1200 * kMi}, {76, 400 * kMi}};
  return picture;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Plot, ShowsBothCurvesThePeakAndTheAxis) {
  EXPECT_EQ(plot(steps(), "allocated", false),
            R"(                             v reserved peak 1200 MiB, event 25
   1200 MiB +                .................................
            |                .................................
            |                .................................
            |                .................................
    800 MiB +                .................................
            |                .................................
            |#################################................
            |#################################................
    400 MiB +#################################...............................
            |#################################...............................
            |################################################################
            |################################################################
          0 +----------------------------------------------------------------
      event  0                                                            100
             # allocated   . reserved beyond that   (highest of each column)
)");
}

TEST(Plot, OomsAreMarkedUnderTheAxisWhereTheyHappened) {
  RunPicture picture = steps();
  picture.ooms = {{.event = 0}, {.event = 99, .count = 3}};
  const std::vector<std::string> lines = lines_of(plot(picture, "allocated", false));
  const std::string& marks = lines.at(15);
  EXPECT_EQ(marks.substr(0, 14), "      OOM 4  x");
  EXPECT_EQ(marks.back(), 'x');
  EXPECT_EQ(marks.size(), lines.at(13).size());
}

TEST(Plot, NoLineIsWiderThanATerminal) {
  RunPicture picture = steps();
  picture.from = 1'000'000'000;
  picture.to = 2'000'000'000;
  picture.allocated = {{1'000'000'000, kMi}, {1'999'999'999, 1'023 * kMi * 1'024}};
  picture.reserved = picture.allocated;
  picture.ooms = {{.event = 1'999'999'999, .count = 100'000}};
  for (const std::string& line : lines_of(plot(picture, "allocated", false))) {
    EXPECT_LT(line.size(), 80u) << line;
  }
}

TEST(Plot, WithoutReservedBytesTheInnerCurveIsThePeak) {
  RunPicture picture = steps();
  picture.reserved.clear();
  const std::string text = plot(picture, "requested", false);
  EXPECT_NE(text.find("requested peak 600 MiB, event 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("reserved"), std::string::npos);
}

TEST(Plot, APeakBeforeTheFirstEventIsDrawnAtItsBeginning) {
  RunPicture picture{.from = 7, .to = 9};
  picture.allocated = picture.reserved = {{7, 50 * kMi}, {8, 10 * kMi}};
  const std::string text = plot(picture, "allocated", false);
  EXPECT_NE(text.find("v reserved peak 50 MiB, event 7"), std::string::npos) << text;
}

TEST(Plot, OfNothingThereIsNoPlot) {
  EXPECT_EQ(plot({}, "allocated", true), "");
  RunPicture picture;
  picture.allocated = picture.reserved = {{0, 0}};
  EXPECT_EQ(plot(picture, "allocated", true), "");
}

TEST(Plot, InUnicodeTheSameCellsAreDrawn) {
  std::string text = plot(steps(), "allocated", true);
  const auto put = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  put("█", "#");
  put("░", ".");
  put("│", "|");
  put("┤", "+");
  put("└", "+");
  put("─", "-");
  put("▼", "v");
  EXPECT_EQ(text, plot(steps(), "allocated", false));
}

}  // namespace
}  // namespace memreplay
