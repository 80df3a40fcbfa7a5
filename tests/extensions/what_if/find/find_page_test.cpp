#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "../found_values.hpp"
#include "extensions/what_if/find/find_report.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string written_page(const FindAnswer& answer) {
  std::ostringstream out;
  write_page(answer, out);
  return out.str();
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++times;
  return times;
}

/// Checks a page's body as XML: every element ends, inside of the one in which it begins. What does
/// not; empty where all do.
std::string not_ended(const std::string& page) {
  std::vector<std::string> open = {"html"};
  for (std::size_t at = page.find("<body>"); (at = page.find('<', at)) != page.npos;) {
    const std::size_t end = page.find('>', at);
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.find('<') != tag.npos || times_in(tag, "\"") % 2 == 1) return tag;
    at = end;
    if (tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || tag.substr(1) != open.back()) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

/// What is drawn, without the signs of the legend.
std::string curves_of(const FindAnswer& answer) {
  const std::string page = written_page(answer);
  const std::size_t from = page.find("<svg viewBox=\"0 0 1000");
  return from == page.npos ? "" : page.substr(from, page.find("</svg>", from) - from);
}

TEST(FindPage, HasAPointForEachValueShown) {
  const std::string picture = curves_of(found_answer({found_four()}));
  EXPECT_EQ(times_in(picture, "<circle class=\"point "), 5u);
  EXPECT_EQ(times_in(picture, "<circle class=\"point s0 recorded\""), 2u);
  EXPECT_THAT(picture, HasSubstr("<title>batch = 2, torch: requested 40 MiB, allocated 41 MiB, "
                                 "reserved 50 MiB; fits, recorded</title>"));
  for (const char* line : {"line requested", "line allocated", "line s0"}) {
    EXPECT_THAT(picture, HasSubstr(line));
  }
}

TEST(FindPage, TheDeviceIsALineAndTheLargestIsNamed) {
  // 100 of 225 MiB, of which the axes have 424 units; 4 of 8 values.
  const std::string picture = curves_of(found_answer({found_four()}));
  EXPECT_THAT(picture, HasSubstr("<path class=\"bound\" d=\"M92 271.6H976\"/>"));
  EXPECT_THAT(picture, HasSubstr(">100 MiB</text>"));
  EXPECT_THAT(picture, HasSubstr("<circle class=\"ring s0\" cx=\"534.0\" cy=\"290.4\""));
  EXPECT_THAT(picture, HasSubstr(">batch = 4</text>"));
}

TEST(FindPage, IsWellFormedWhateverNamesAre) {
  FoundValue found = found_four();
  found.strategy = "<&\">";
  found.device.name = "</svg>'";
  FindAnswer answer = found_answer({found, found});
  answer.facts.name = "\"<b>";
  EXPECT_EQ(not_ended(written_page(answer)), "");
  EXPECT_THAT(written_page(answer), Not(HasSubstr("<b>")));
  EXPECT_THAT(written_page(answer), Not(HasSubstr("<script")));
}

TEST(FindPage, WhatIsLeftOpenIsABand) {
  FoundValue found = found_four();
  EXPECT_THAT(curves_of(found_answer({found})), Not(HasSubstr("class=\"band")));
  found.tried[4].interval = RunInterval{.peak_reserved = {190 * kMiB, 225 * kMiB}};
  EXPECT_THAT(curves_of(found_answer({found})), HasSubstr("class=\"band s0\""));
}

TEST(FindPage, EachDeviceHasAPictureOfItsStrategies) {
  FoundValue elsewhere = found_four();
  elsewhere.device.name = "T4";
  const FoundValue other = found_batch({{.value = 3, .reserved = 70 * kMiB}}, "bfc");
  const std::string page = written_page(found_answer({found_four(), other, elsewhere}));
  EXPECT_EQ(times_in(page, "<svg viewBox=\"0 0 1000"), 2u);
  EXPECT_EQ(times_in(page, "reserved under torch</li>"), 2u);
  EXPECT_THAT(page, HasSubstr("reserved under bfc</li>"));
  EXPECT_THAT(page, HasSubstr(">torch: batch = 4</text>"));
  EXPECT_THAT(page, HasSubstr("<caption>bfc on 100 MiB</caption>"));
}

TEST(FindPage, WhereNothingFitsNoneIsNamed) {
  const FoundValue none = found_batch({{.value = 1, .reserved = 101 * kMiB}});
  const std::string picture = curves_of(found_answer({none}));
  EXPECT_EQ(times_in(picture, "<circle class=\"point "), 1u);
  EXPECT_THAT(picture, Not(HasSubstr("class=\"ring")));
  EXPECT_THAT(written_page(found_answer({none})),
              HasSubstr("<p>torch: batch = 1 does not fit 100 MiB."));
}

TEST(FindPage, BeforeTheFirstStrategyWasTriedThereIsNoPicture) {
  FindAnswer answer = found_answer({});
  answer.interrupted = true;
  EXPECT_EQ(curves_of(answer), "");
  EXPECT_EQ(not_ended(written_page(answer)), "");
  EXPECT_THAT(written_page(answer), HasSubstr("<p>Interrupted: "));
  FoundValue stopped = found_batch({});
  stopped.interrupted = true;
  answer.found = {stopped};
  EXPECT_EQ(not_ended(written_page(answer)), "");
}

}  // namespace
}  // namespace memreplay
