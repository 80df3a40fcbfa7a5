#include "record/program.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>

#include "core/error.hpp"

namespace memreplay {
namespace {

ProgramEnd shell(const std::string& script,
                 const std::map<std::string, std::string>& environment = {}) {
  return run_program({"sh", "-c", script}, {.environment = environment});
}

TEST(RunProgram, GivesTheExitStatus) {
  EXPECT_EQ(shell("exit 0").status, 0);
  const ProgramEnd end = shell("exit 7");
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.signal, 0);
}

TEST(RunProgram, GivesTheSignalThatEndedIt) {
  const ProgramEnd end = shell("kill -9 $$");
  EXPECT_EQ(end.status, 137);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(RunProgram, AddsToTheEnvironment) {
  EXPECT_EQ(shell(R"(test "$OURS" = "a b" && test -n "$PATH")", {{"OURS", "a b"}}).status, 0);
}

TEST(RunProgram, PassesASignalOnAndStays) {
  EXPECT_EQ(shell("trap 'exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done").status, 3);
}

/// Between the start of the program and our knowing of it.
TEST(RunProgram, PassesOnASignalThatComesWhileItStarts) {
  static bool armed = false;
  ASSERT_EQ(::pthread_atfork(
                nullptr,
                [] {
                  if (armed) ::raise(SIGTERM);
                },
                nullptr),
            0);
  armed = true;
  const ProgramEnd end = run_program({"sleep", "10"}, {});
  armed = false;
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST(RunProgram, LeavesSignalsAsTheyWere) {
  struct sigaction before {};
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &before);
  EXPECT_EQ(shell("kill -INT $$").signal, SIGINT);
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(RunProgram, ThatCannotBeStartedIsWrongUsage) {
  try {
    run_program({"/nowhere/python", "train.py"}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/python: No such file or directory");
  }
  EXPECT_THROW(run_program({"/"}, {}), UsageError);
}

TEST(OutputOf, IsWhatAProgramWrites) {
  EXPECT_EQ(output_of({"sh", "-c", "echo one; echo no >&2; echo two; exit 3"}), "one\ntwo\n");
  EXPECT_EQ(output_of({"/nowhere/python"}), "");
}

}  // namespace
}  // namespace memreplay
