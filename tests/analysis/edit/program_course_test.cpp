#include "analysis/edit/program_course.hpp"

#include <gtest/gtest.h>

#include "analysis/edit/programs.hpp"

namespace memreplay {
namespace {

TEST(ProgramCourse, CountsAllocations) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(5).ask(6).free(5).backward().ask(7);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.allocations(), (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_EQ(course.event_of(2), 3u);
  EXPECT_EQ(course.event_of(3), 4u) << "the end of the trace";
  EXPECT_EQ(course.allocation_from(1), 1u);
  EXPECT_EQ(course.request_behind(1), 3u);
  EXPECT_FALSE(course.is_backward(1));
  EXPECT_TRUE(course.is_backward(2));
  EXPECT_FALSE(course.ran_out());
}

TEST(ProgramCourse, AnOperationReturnsItsLargestBlockThatIsAlive) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(50);
  program.at(layer_line(12)).ask(20).ask(30).ask(30).ask(60).free(60);
  program.at(layer_line(13)).ask(1);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.value_at(0, 5, 5), course.block_of(3)) << "of equal ones the latest";
  EXPECT_EQ(course.value_at(0, 1, 5), course.block_of(0));
  EXPECT_EQ(course.value_at(0, 0, 5), BlockLives::kNone);
}

}  // namespace
}  // namespace memreplay
