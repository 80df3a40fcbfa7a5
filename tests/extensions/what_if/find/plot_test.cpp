#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "../found_values.hpp"
#include "extensions/what_if/find/find_report.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ValuePlot, ShowsWhatWasTriedAndTheDevice) {
  EXPECT_EQ(value_plot(found_four(), "batch", false),
            R"(             batch = 4 is the largest that fits v
    200 MiB +                                                               :
            |                                                               :
            |                                                               :
            |                                                               :
    100 MiB +--------------------------------.-------:----------------------:
            |                                #       :                      :
            |        .       #               #       :                      :
            |        #       #               #       :                      :
          0 +----------------------------------------------------------------
   recorded          o       o
      batch  0                                                              8
             # requested   . reserved beyond that   : does not fit
             - 100 MiB
)");
}

TEST(ValuePlot, BehindAValueThatFitsOneThatDoesNotIsSeen) {
  const FoundValue found = found_batch({{.value = 1000, .requested = kMiB, .reserved = 60 * kMiB},
                                        {.value = 1001, .requested = kMiB, .reserved = 200 * kMiB},
                                        {.value = 1002, .requested = kMiB, .reserved = 150 * kMiB},
                                        {.value = 2000, .requested = kMiB, .reserved = kMiB}});
  const std::string text = value_plot(found, "batch", false);
  std::vector<std::string> drawn;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) drawn.push_back(line);
  std::string column;
  for (std::size_t row = 1; row <= 8; ++row) column += drawn.at(row).at(13 + 32);
  EXPECT_EQ(column, "::::::.#") << text;
  EXPECT_THAT(text, HasSubstr("(highest of each column)"));
  EXPECT_THAT(text, Not(HasSubstr("recorded")));
}

TEST(ValuePlot, ItIsSmall) {
  FoundValue found = found_four();
  found.device.name = "RTX-PRO-6000-Blackwell";
  found.device.reserve = kMiB;
  found.tried[1].value = 3'999'999'000;
  found.tried[2].value = *(found.largest = 3'999'999'999);
  found.tried[3].value = found.tried[4].value = 4'000'000'000;
  std::istringstream lines(value_plot(found, "batch", false, 120));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LT(line.size(), 80u) << line;
  EXPECT_LE(count, 14u);
}

TEST(ValuePlot, WhereNothingFitsThereIsNoLargest) {
  const std::string text =
      value_plot(found_batch({{.value = 1, .reserved = 101 * kMiB}}), "batch", true);
  EXPECT_THAT(text, Not(HasSubstr("▼")));
  EXPECT_THAT(text, HasSubstr("▒ reserved, does not fit"));
  EXPECT_THAT(text, HasSubstr("╌ 100 MiB"));
}

TEST(ValuePlot, OnePointIsAtTheEnd) {
  const std::string text =
      value_plot(found_batch({{.value = 3, .reserved = 10 * kMiB}}), "side", false);
  EXPECT_THAT(text, HasSubstr("side = 3 is the largest that fits v\n"));
  EXPECT_THAT(
      text, HasSubstr("  side  0                                                              3"));
}

TEST(ValuePlot, AnInterruptedSearchHasNoLargest) {
  FoundValue found = found_four();
  found.tried.resize(3);
  found.interrupted = true;
  EXPECT_THAT(value_plot(found, "batch", false), HasSubstr("batch = 4 fits v"));
  EXPECT_EQ(value_plot({}, "batch", false), "");
}

TEST(FindText, PlotsWhereTheyAreAskedFor) {
  FindAnswer answer = found_answer({found_four()});
  EXPECT_THAT(to_text(answer, {}), Not(HasSubstr("+----")));
  answer.plotted = true;
  EXPECT_THAT(to_text(answer, {}),
              HasSubstr("recorded value.\n\n             batch = 4 is the largest"));
  EXPECT_THAT(to_text(answer, {}), HasSubstr("- 100 MiB\n\n batch  requested"));
  EXPECT_THAT(to_markdown(answer), Not(HasSubstr("+----")));
}

TEST(FindText, AnInterruptedSearchDoesNotSayThatNothingFits) {
  FindAnswer answer = found_answer({found_four()});
  answer.interrupted = answer.found[0].interrupted = true;
  EXPECT_THAT(to_text(answer, {}), HasSubstr("batch = 4 fits 100 MiB under torch; larger values"));
  answer.found[0].largest.reset();
  EXPECT_THAT(to_text(answer, {}),
              HasSubstr("torch: no batch was found that fits 100 MiB before the interruption."));
}

}  // namespace
}  // namespace memreplay
