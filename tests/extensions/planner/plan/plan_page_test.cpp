#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "extensions/planner/plan/plan_report.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using testing::Not;

PlannedDevice planned_device() {
  PlannedDevice device;
  device.trace.path = "buffers.csv";
  device.in_events = false;
  device.buffers = {{.name = "w", .lower = 0, .upper = 10, .size = 4},
                    {.name = "<a>", .lower = 5, .upper = 10, .size = 3, .offset = 4}};
  device.lower_bound = 7;
  device.height = 7;
  return device;
}

std::string page_of(const PlannedDevice& device) {
  std::ostringstream out;
  write_page({.devices = {device}}, out);
  return out.str();
}

TEST(PlanPage, DrawsTimeFromLeftToRightAndAddressesUpwards) {
  const std::string page = page_of(planned_device());
  EXPECT_THAT(page, HasSubstr("d=\"M0.00 240.00H1000.00V560.00H0.00z\"><title>w: 4 B at 0, "
                              "[0, 10)</title>"));
  EXPECT_THAT(page, HasSubstr("d=\"M500.00 0.00H1000.00V240.00H500.00z\"><title>&lt;a&gt;: 3 B at "
                              "4, [5, 10)</title>"));
  EXPECT_THAT(page, HasSubstr("Left to right: time 0 to time 10. Upwards: 0 to 7 B."));
  EXPECT_THAT(page, HasSubstr("proved optimal"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(PlanPage, AGapIsLeftOpen) {
  PlannedDevice device = planned_device();
  device.buffers[0].gaps = {{.from = 2, .to = 4}, {.from = 6, .to = 7, .low = 1, .high = 2}};
  EXPECT_THAT(page_of(device),
              HasSubstr("d=\"M0.00 240.00H200.00V560.00H0.00zM400.00 240.00H600.00V560.00H400.00z"
                        "M600.00 400.00H700.00V480.00H600.00zM700.00 240.00"));
}

TEST(PlanPage, TheBoundIsALineWhereThePlanIsAbove) {
  PlannedDevice device = planned_device();
  EXPECT_THAT(page_of(device), Not(HasSubstr("class=\"bound\"")));
  device.buffers[1].offset = 10;
  device.height = 14;
  EXPECT_THAT(page_of(device), HasSubstr("class=\"bound\" d=\"M0 280.00H1000\""));
}

TEST(PlanPage, EachMemoryHasItsPicture) {
  PlannedDevice device = planned_device();
  device.memories = {{.name = "npu", .capacity = 4, .height = 4, .buffers = 1},
                     {.name = "dram", .capacity = 9, .height = 3, .buffers = 1},
                     {.name = "host", .capacity = 9}};
  device.buffers[1].memory = 1;
  device.buffers[1].offset = 0;
  const std::string page = page_of(device);
  EXPECT_THAT(page, HasSubstr("All fits: npu 4 B of 4 B in 1 buffer, dram 3 B of 9 B in 1 buffer"));
  EXPECT_THAT(page, HasSubstr("<h2>dram</h2>\n<svg"));
  EXPECT_THAT(page, HasSubstr("<h2>host</h2>\n"
                              "<p class=\"quiet\">There are no buffers."));
}

TEST(PlanPage, OfVeryManyBuffersTheLargestAreDrawn) {
  PlannedDevice device = planned_device();
  device.buffers.assign(kMostBuffersDrawn + 1, {.name = "b", .upper = 1, .size = 2});
  device.buffers[7] = {.name = "tiny", .upper = 1, .size = 1};
  const std::string page = page_of(device);
  EXPECT_NE(page.find("shows 50,000 of 50,001 buffers"), page.npos);
  EXPECT_EQ(page.find("tiny"), page.npos);
}

TEST(PlanPage, WhereNothingFitsItSaysSoWithoutAPicture) {
  PlannedDevice device = planned_device();
  device.height.reset();
  device.capacity = 6;
  device.impossible = true;
  const std::string page = page_of(device);
  EXPECT_THAT(page, HasSubstr("No plan fits in 6 B"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

}  // namespace
}  // namespace memreplay
