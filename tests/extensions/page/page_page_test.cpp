#include "extensions/page/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/units.hpp"
#include "extensions/page/brief.hpp"
#include "extensions/page/page_data.hpp"

namespace memreplay {
namespace {

PackedColumn column_of(std::size_t bytes) {
  PackedColumn column;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 1664525 + 1013904223;  // hard to compress
    column.byte(static_cast<std::uint8_t>(state >> 24));
  }
  return column;
}

PageAnswer page_of(std::vector<std::string> strategies, std::size_t bytes_of_places = 10) {
  PageAnswer page{.devices = {{}}};
  PageDevice& device = page.devices.front();
  device.report.trace.path = "a<b>.pickle";
  device.trace.events = 4;
  device.trace.window = {0, 4};
  device.settings = {"Recorded under </script>."};
  for (const std::string& strategy : strategies) {
    Run run;
    run.strategy = strategy;
    run.picture.emplace();
    device.report.runs.push_back(run);
    device.placed.push_back({.places = column_of(bytes_of_places)});
  }
  return page;
}

std::string written(const PageAnswer& page) {
  std::ostringstream out;
  write_page(page, "1.2", out);
  return out.str();
}

TEST(Page, FillsInEveryName) {
  const std::string page = written(page_of({"torch"}));
  for (const char* name :
       {"title", "headlines", "sections", "left-out", "version", "data", "blobs"}) {
    EXPECT_EQ(page.find(std::string("{{") + name), std::string::npos) << name;
  }
  EXPECT_NE(page.find("<title>a&lt;b&gt;.pickle</title>"), std::string::npos);
  EXPECT_NE(page.find("Every event; nothing is left out."), std::string::npos);
}

TEST(Page, FetchesNothing) {
  const std::string page = written(page_of({"torch"}));
  for (const char* link : {"src=\"http", "href=\"http", "@import", "<link rel=\"stylesheet"}) {
    EXPECT_EQ(page.find(link), std::string::npos) << link;
  }
}

TEST(Page, TextsOfARecordingNeverEndAScript) {
  PageAnswer page = page_of({"torch"});
  page.devices[0].trace.phases = {{"</script><b>", 0, 2, 0}};
  const std::string text = written(page);
  EXPECT_EQ(text.find("</script><b>"), std::string::npos);
  EXPECT_EQ(text.find("</script>."), std::string::npos);
  EXPECT_NE(text.find("\\u003c/script>\\u003cb>"), std::string::npos);
}

// The runs on the first device.
nlohmann::json runs_of(const PageData& data) {
  return nlohmann::json::parse(data.description.dump()).at("devices").at(0).at("runs");
}

TEST(Page, PlacesThatWouldMakeItTooLargeAreLeftOutFromTheLastOnAndNamed) {
  PageAnswer page = page_of({"torch", "bfc", "buddy"}, 10'000);
  page.most_bytes = 30'000;
  const PageData data = page_data(page);
  const nlohmann::json runs = runs_of(data);
  EXPECT_TRUE(runs[0].at("places").is_object());
  EXPECT_TRUE(runs[1].at("places").is_object());
  EXPECT_TRUE(runs[2].at("places").is_null());
  ASSERT_EQ(data.left_out.size(), 1u);
  EXPECT_NE(data.left_out[0].find("The placements of buddy would take 13.0 KiB more"),
            std::string::npos)
      << data.left_out[0];
  EXPECT_EQ(runs[2].at("why_no_places"), data.left_out[0]);
}

TEST(Page, SaysWhichEventsItHasInFull) {
  PageAnswer page = page_of({"torch"});
  page.devices[0].trace.window = {1, 3};
  const std::string text = written(page);
  EXPECT_NE(text.find("events [1, 3) are in the page in full"), std::string::npos);
}

TEST(Page, ItsFirstEventIsThatOfTheFirstSentence) {
  const auto explained = [](std::optional<std::uint64_t> event) {
    PageAnswer page = page_of({"torch"});
    page.devices[0].explained.explanation.event = event;
    const auto data = nlohmann::json::parse(page_data(page).description.dump());
    return data.at("devices").at(0).at("explained").get<std::uint64_t>();
  };
  EXPECT_EQ(explained(3), 3u);
  EXPECT_EQ(explained({}), 0u) << "it is before the first event";
}

TEST(Page, AStrategyThatMovesBlocksSaysWhyTheyAreNotDrawn) {
  PageAnswer page = page_of({"offload(torch)"});
  page.devices[0].placed[0].keeps_places = false;
  const nlohmann::json run = runs_of(page_data(page)).at(0);
  EXPECT_TRUE(run.at("places").is_null());
  EXPECT_NE(run.at("why_no_places").get<std::string>().find("moves blocks"), std::string::npos);
}

TEST(Page, OpensAtTheWorstOfSeveralDevices) {
  PageAnswer page = page_of({"torch"});
  page.devices.push_back(page.devices.front());
  page.worst = 1;
  EXPECT_NE(page_data(page).description.dump().find("\"worst\":1"), std::string::npos);
}

TEST(Page, OfSeveralRanksItBeginsWithWhatRanksSays) {
  PageAnswer page = page_of({"torch"});
  RanksAnswer& ranks = page.ranks.emplace();
  ranks.part.rows = {{.rank = 7, .runs = {{.strategy = "recorded", .ooms = 1}}}};
  ranks.classes.resize(1);
  ranks.under = {{.strategy = "recorded"}};
  const std::string text = written(page);
  const std::string headline = "<p class=\"headline\">";
  EXPECT_NE(text.find(headline + "Rank 7 (gpu 0) ran out of memory.</p>"), std::string::npos);
  EXPECT_EQ(text.find(headline), text.rfind(headline)) << "that of a device is no second one";
}

/// A request of 30 MiB with 50 live of 100.
ExplainedDevice refused(Cause cause) {
  ExplainedDevice device;
  device.streams = {0};
  Explanation& e = device.explanation;
  e.cause = cause;
  e.at_oom = e.fails = true;
  e.event = 3;
  e.requested = 30 * kMiB;
  e.live_requested = e.live_allocated = 50 * kMiB;
  e.reserved = 75 * kMiB;
  e.free_inside = 25 * kMiB;
  e.device_free = 25 * kMiB;
  e.room = 100 * kMiB;
  e.live = {{"model.py:1 f", 40 * kMiB, 4}, {"model.py:2 g", 10 * kMiB, 1}};
  e.pins = {.by_place = {{.place = "model.py:2 g", .pinned = 25 * kMiB}}, .pinned = 25 * kMiB};
  return device;
}

TEST(Brief, TheRequestLiesBesideWhatIsLiveInOneScale) {
  const std::string text = brief_of(refused(Cause::fragmentation));
  for (const char* part :
       {"live\" style=\"width:50.00%\"", "hole\" style=\"width:25.00%\"",
        "outside\" style=\"width:25.00%\"", "request\" style=\"margin-left:50.00%;width:30.00%\"",
        "<b style=\"left:100.00%\">"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
}

TEST(Brief, ARequestThatIsTooMuchReachesBeyondTheDevice) {
  ExplainedDevice device = refused(Cause::shortage);
  device.explanation.requested = 75 * kMiB;
  const std::string text = brief_of(device);
  EXPECT_NE(text.find("margin-left:40.00%;width:60.00%"), std::string::npos) << text;
  EXPECT_NE(text.find("<b style=\"left:80.00%\">"), std::string::npos) << text;
}

TEST(Brief, WhereHolesAreTheReasonWhoKeepsThemComesFirst) {
  const auto order = [](Cause cause) {
    const std::string text = brief_of(refused(cause));
    return text.find("model.py:1") < text.find("model.py:2");
  };
  EXPECT_FALSE(order(Cause::fragmentation));
  EXPECT_TRUE(order(Cause::shortage));
}

}  // namespace
}  // namespace memreplay
