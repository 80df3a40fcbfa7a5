#include "extensions/what_if/edit/selector.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "extensions/what_if/edit/edit.hpp"
#include "support/programs.hpp"

namespace memreplay {
namespace {

using Sizes = std::vector<Bytes>;

/// The sizes of what a selector picks.
Sizes picked(const Recording& recording, const std::string& selector) {
  const Trace& trace = recording.traces.front();
  const BlockLives lives = lives_of(trace);
  Sizes sizes;
  for (const std::uint32_t block :
       selected(recording, trace, lives, parse_selector("--select", selector))) {
    sizes.push_back(lives.blocks[block].size);
  }
  return sizes;
}

std::string refusal(const std::string& part) {
  Selector selector;
  try {
    take_selector("--select", part, selector);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

/// The functions of a model and of its program, a block each.
Recording functions() {
  ProgramWriter program;
  program.at({"/home/me/models.py:3 Net.__init__", "/home/me/train.py:1 <module>"}).ask(1);
  program.at({"/home/me/models.py:7 Block.attn", "/home/me/models.py:9 forward"}).ask(2);
  program.at({"/home/me/models.py:8 Block.mlp", "/home/me/models.py:9 forward"}).ask(4);
  program.at({"/home/me/old_models.py:8 forward"}).ask(8);
  return program.recording();
}

TEST(Selector, CodeIsLinesOfAFile) {
  EXPECT_EQ(picked(functions(), "code=models.py:7-8"), (Sizes{2, 4}));
  EXPECT_EQ(picked(functions(), "code=models.py:7"), (Sizes{2}));
  EXPECT_EQ(picked(functions(), "code=models.py:9"), (Sizes{2, 4})) << "any frame of a stack";
  EXPECT_EQ(picked(functions(), "code=models.py:7,code=models.py:3"), (Sizes{1, 2}));
  EXPECT_EQ(picked(functions(), "code=models.py:10-20"), (Sizes{}));
}

TEST(Selector, AFileEndsWithFoldersAsAWhole) {
  EXPECT_EQ(picked(functions(), "code=me/models.py:3"), (Sizes{1}));
  EXPECT_EQ(picked(functions(), "code=e/models.py:3"), (Sizes{}));
  EXPECT_EQ(picked(functions(), "code=/home/me/models.py:3"), (Sizes{1}));
  const Recording windows = ProgramWriter().at({"me\\models.py:3 f"}).ask(1).recording();
  EXPECT_EQ(picked(windows, "code=models.py:3"), (Sizes{1}));
}

TEST(Selector, AFunctionHasItsNameWithOrWithoutItsClass) {
  EXPECT_EQ(picked(functions(), "function=attn"), (Sizes{2}));
  EXPECT_EQ(picked(functions(), "function=Block.attn"), (Sizes{2}));
  EXPECT_EQ(picked(functions(), "function=forward"), (Sizes{2, 4, 8}));
  EXPECT_EQ(picked(functions(), "function=ttn"), (Sizes{}));
  EXPECT_EQ(picked(functions(), "function=forward,code=models.py:9"), (Sizes{2, 4}));
}

TEST(Selector, AStackHasATextInOneOfItsFrames) {
  EXPECT_EQ(picked(functions(), "stack=models.py:8"), (Sizes{4, 8}));
  EXPECT_EQ(picked(functions(), "stack=train.py:1 <mod"), (Sizes{1}));
  EXPECT_EQ(picked(functions(), "stack=old,function=forward"), (Sizes{8}));
}

TEST(Selector, SizesHaveBounds) {
  EXPECT_EQ(picked(functions(), "size>=2"), (Sizes{2, 4, 8}));
  EXPECT_EQ(picked(functions(), "size>2"), (Sizes{4, 8}));
  EXPECT_EQ(picked(functions(), "size<4"), (Sizes{1, 2}));
  EXPECT_EQ(picked(functions(), "size<=4,size>1"), (Sizes{2, 4}));
  EXPECT_EQ(picked(functions(), "size>=1KiB"), (Sizes{}));
}

TEST(Selector, CategoriesAreToldByLifeAndCaller) {
  ProgramWriter program;
  program.at({"models.py:3 __init__"}).ask(1);
  program.at({"models.py:7 forward"}).ask(2).ask(3).free(3);
  program.backward().ask(4).ask(5).free(5).free(2);
  program.at({"torch/optim/adam.py:9 step", "train.py:6 step"}).ask(6).ask(7).free(7).free(4);
  const Recording recording = program.recording();
  EXPECT_EQ(picked(recording, "category=parameter"), (Sizes{1}));
  EXPECT_EQ(picked(recording, "category=optimizer_state"), (Sizes{6}));
  EXPECT_EQ(picked(recording, "category=gradient"), (Sizes{4}));
  EXPECT_EQ(picked(recording, "category=activation"), (Sizes{2}));
  EXPECT_EQ(picked(recording, "category=temporary"), (Sizes{3, 5, 7}));
  EXPECT_EQ(picked(recording, "saved"), (Sizes{2}));
}

Recording two_steps() {
  ProgramWriter program;
  program.at({"train.py:5 step"}).ask(1);
  for (const Bytes step : {10, 20}) {
    const std::string name = step == 10 ? "step 0" : "step 1";
    program.annotate(name, true).ask(step).annotate("forward", true).ask(step + 1);
    program.annotate("forward", false).free(step).annotate(name, false);
  }
  return program.recording();
}

TEST(Selector, APhaseIsWhereABlockIsAskedFor) {
  EXPECT_EQ(picked(two_steps(), "phase=step 1"), (Sizes{20, 21}));
  EXPECT_EQ(picked(two_steps(), "phase=step *"), (Sizes{10, 11, 20, 21}));
  EXPECT_EQ(picked(two_steps(), "phase=forward"), (Sizes{11, 21})) << "each time it comes";
}

std::string why_not_picked(const Recording& recording, const std::string& selector) {
  try {
    picked(recording, selector);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "picked";
}

TEST(Selector, APhaseThatNobodyAnnotatedIsRefused) {
  EXPECT_EQ(
      why_not_picked(two_steps(), "phase=foward"),
      "phase=foward: no such scope in this recording; did you mean 'forward'? (it has forward, "
      "step *)");
  EXPECT_EQ(why_not_picked(two_steps(), "phase=step"),
            "phase=step: no such scope in this recording; did you mean 'step *'? (it has forward, "
            "step *)");
  EXPECT_EQ(why_not_picked(two_steps(), "phase=backward"),
            "phase=backward: no such scope in this recording (it has forward, step *)");
  EXPECT_EQ(why_not_picked(functions(), "phase=forward"),
            "phase=forward: no such scope in this recording; it annotates none");
}

TEST(Selector, OfManyPhasesSomeAreNamed) {
  ProgramWriter program;
  for (const char name : std::string("abcdefghij")) program.annotate({name}, true).ask(1);
  EXPECT_EQ(
      why_not_picked(program.recording(), "phase=none"),
      "phase=none: no such scope in this recording (it has a, b, c, d, e, f, g, h and 2 more)");
}

TEST(Selector, WhatIsToldByStacksIsRefusedWithoutThem) {
  const Recording recording = ProgramWriter().ask(1).free(1).recording();
  EXPECT_EQ(why_not_picked(recording, "category=temporary"),
            "category=temporary: inferred from Python stacks, and this recording has none");
  EXPECT_EQ(why_not_picked(recording, "saved"),
            "saved: inferred from Python stacks, and this recording has none");
}

TEST(Selector, StepsAreCountedFromOne) {
  const Recording recording = RecordingWriter()
                                  .alloc(0, 1)
                                  .add(Op::marker, kNoSlot, 0)
                                  .alloc(1, 2)
                                  .add(Op::marker, kNoSlot, 0)
                                  .alloc(2, 4)
                                  .recording();
  EXPECT_EQ(picked(recording, "step=1"), (Sizes{1}));
  EXPECT_EQ(picked(recording, "step=2"), (Sizes{2}));
  EXPECT_EQ(picked(recording, "step=9"), (Sizes{}));
}

TEST(Selector, ALifeIsCountedInEvents) {
  const Recording recording = ProgramWriter().ask(1).ask(2).free(2).ask(4).free(1).recording();
  EXPECT_EQ(picked(recording, "lives=1"), (Sizes{1, 2, 4}));
  EXPECT_EQ(picked(recording, "lives=2"), (Sizes{1, 4})) << "never freed is longest";
  EXPECT_EQ(picked(recording, "lives=5"), (Sizes{4}));
}

TEST(Selector, AStreamIsThatOfTheRequest) {
  TraceBuilder builder(0);
  builder.add(Op::allocate, builder.lane(0, {}), 0, 1);
  builder.add(Op::allocate, builder.lane(77, {}), 1, 2);
  Recording recording;
  builder.trace().slot_count = 2;
  recording.traces = {builder.finish()};
  EXPECT_EQ(picked(recording, "stream=0"), (Sizes{1}));
  EXPECT_EQ(picked(recording, "stream=1"), (Sizes{2}));
}

TEST(Selector, BlocksFromBeforeTheFirstEventHaveNoPhaseStreamOrStep) {
  Recording recording = two_steps();
  start_with(recording.traces.front(), 9, 77);
  EXPECT_EQ(picked(recording, "size>=77"), (Sizes{77}));
  EXPECT_EQ(picked(recording, "category=parameter,size>=77"), (Sizes{77}));
  EXPECT_EQ(picked(recording, "size>=77,stream=0"), (Sizes{}));
  EXPECT_EQ(picked(recording, "size>=77,phase=step *"), (Sizes{}));
  EXPECT_EQ(picked(recording, "size>=77,step=0"), (Sizes{}));
}

TEST(Selector, AllThatIsGivenHasToHold) {
  EXPECT_EQ(picked(functions(), "function=forward,size>=4,size<8"), (Sizes{4}));
}

TEST(Selector, AValueThatIsNoneIsRefusedWithWhatWasExpected) {
  EXPECT_EQ(refusal("code=models.py"),
            "--select: 'code=models.py'; expected code=FILE:FIRST-LAST, such as "
            "code=models.py:47-49");
  EXPECT_NE(refusal("code=models.py:9-7"), "taken");
  EXPECT_NE(refusal("code=:9"), "taken");
  EXPECT_NE(refusal("code=models.py:4294967295"), "taken");
  EXPECT_EQ(refusal("category=weights"),
            "--select: 'category=weights'; expected parameter, optimizer_state, gradient, "
            "activation, temporary");
  EXPECT_EQ(refusal("size>=lots"), "--select: 'size>=lots'; expected a size, such as size>=16MiB");
  EXPECT_EQ(refusal("stream=first"), "--select: 'stream=first'; expected a stream's number");
  EXPECT_EQ(refusal("stream=4294967296"),
            "--select: 'stream=4294967296'; expected a stream's number");
  EXPECT_EQ(refusal("step=-1"), "--select: 'step=-1'; expected a step's number");
  EXPECT_EQ(refusal("lives=long"), "--select: 'lives=long'; expected a number of events");
  EXPECT_EQ(refusal("function="), "--select: 'function='; expected a value");
}

TEST(Selector, WhatIsNoneOfItsKeysIsLeftToOthers) {
  Selector selector;
  EXPECT_FALSE(take_selector("--edit", "factor=2", selector));
  EXPECT_FALSE(take_selector("--edit", "size", selector));
  EXPECT_FALSE(take_selector("--edit", "sizes>=4", selector));
}

}  // namespace
}  // namespace memreplay
