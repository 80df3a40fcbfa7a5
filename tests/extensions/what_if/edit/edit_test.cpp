#include "extensions/what_if/edit/edit.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "support/programs.hpp"

namespace memreplay {
namespace {

MadeRecordings made(const Recording& recording, const std::vector<std::string>& texts) {
  const Subject subject(recording, recording.traces.front());
  std::vector<Edit> edits;
  for (const std::string& text : texts) edits.push_back(parse_edit(text));
  return edited(subject, edits);
}

Recording three_blocks() {
  return ProgramWriter().ask(80).ask(5).free(80).ask(20).free(5).free(20).recording();
}

TEST(Edited, EditsAreMadeOneAfterTheOther) {
  const MadeRecordings both = made(three_blocks(), {"scale:size>=80,factor=2", "drop:size>=100"});
  EXPECT_EQ(told(both.likeliest.trace()), "+5 +20 -5 -20");
  ASSERT_EQ(both.edits.size(), 2u);
  EXPECT_EQ(both.edits[0].edit, "scale:size>=80,factor=2");
  EXPECT_EQ(both.edits[0].bytes, 80u);
  EXPECT_EQ(both.edits[1].bytes, 160u);
  EXPECT_THROW(made(three_blocks(), {"drop:size>=100", "scale:size>=80,factor=2"}), UsageError);
}

TEST(Edited, BlocksThatAreNamedLeaveNothingOpen) {
  const MadeRecordings scaled = made(three_blocks(), {"scale:size>=80,factor=2"});
  EXPECT_TRUE(scaled.others.empty());
  EXPECT_EQ(scaled.likeliest.origin->why_inexact, "");
}

TEST(Edited, WhatIsOpenOfARecordingStaysOpen) {
  const Recording layers = two_layers().recording();
  MadeRecordings guessed = made(layers, {"scale:size>=10,factor=2"});
  Origin origin = *guessed.likeliest.origin;
  origin.why_inexact = "it is a guess";
  guessed.likeliest.origin = std::make_shared<const Origin>(origin);
  const auto why = [&](const char* edit) {
    return edited(guessed, std::vector{parse_edit(edit)}).likeliest.origin->why_inexact;
  };
  EXPECT_EQ(why("scale:size>=10,factor=2"), "it is a guess");
  EXPECT_EQ(
      why("checkpoint:function=forward").find("it is a guess; lifetimes in the edited program"),
      0u);
}

TEST(Edited, WhenBlocksWouldDieIsGuessedInSeveralWays) {
  const MadeRecordings layers = made(two_layers().recording(), {"checkpoint:function=forward"});
  ASSERT_EQ(layers.others.size(), 4u);
  EXPECT_NE(layers.likeliest.origin->why_inexact, "");
  EXPECT_TRUE(told(layers.others[0].trace()).starts_with("+100 +11 +12 -11 +13 -12")) << "rebound";
  EXPECT_TRUE(told(layers.others[1].trace()).starts_with("+100 +11 -11 +12 -12")) << "at once";
  EXPECT_TRUE(told(layers.others[2].trace()).starts_with("+100 +11 +12 +13 -11")) << "at the end";
}

TEST(Edited, WhetherAnOutputIsKeptDoublesTheWays) {
  ProgramWriter program;
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.at({"train.py:6 step"}).ask(30).backward().ask(40).free(30);
  program.ask(41).free(13).ask(42).free(12).free(41).ask(43).free(11);
  EXPECT_EQ(made(program.recording(), {"checkpoint:function=forward"}).others.size(), 8u);
}

TEST(Edited, AnEditMayFollowACheckpoint) {
  const MadeRecordings both =
      made(two_layers().recording(), {"checkpoint:function=forward", "scale:saved,factor=2"});
  ASSERT_EQ(both.others.size(), 4u);
  EXPECT_EQ(both.edits.size(), 2u);
  for (const MadeRecording& other : both.others) {
    EXPECT_EQ(other.trace().size(), both.likeliest.trace().size());
  }
}

template <typename What>
What what_of(const std::string& text) {
  return std::get<What>(parse_edit(text).what);
}

std::string refusal(const std::string& text) {
  try {
    parse_edit(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Edit, ItKeepsTheTextAsItWasGiven) {
  const Edit edit = parse_edit("drop:function=attn,size>=4");
  EXPECT_EQ(edit.text, "drop:function=attn,size>=4");
  EXPECT_TRUE(std::holds_alternative<DropEdit>(edit.what));
  EXPECT_EQ(edit.selector.function, "attn");
  EXPECT_EQ(edit.selector.at_least, 4u);
}

TEST(Edit, CheckpointTakesWhichLayersAndHow) {
  const auto plain = what_of<CheckpointEdit>("checkpoint:code=m.py:1-3");
  EXPECT_EQ(plain.group, 1u);
  EXPECT_FALSE(plain.only || plain.segments || plain.reentrant);
  EXPECT_EQ(what_of<CheckpointEdit>("checkpoint:function=f,group=4").group, 4u);
  EXPECT_EQ(what_of<CheckpointEdit>("checkpoint:function=f,group=4/2").group, 4u);
  EXPECT_EQ(what_of<CheckpointEdit>("checkpoint:function=f,group=4/2").inner, 2u);
  EXPECT_EQ(what_of<CheckpointEdit>("checkpoint:function=f,only=2").only, 2u);
  EXPECT_EQ(what_of<CheckpointEdit>("checkpoint:function=f,segments=3").segments, 3u);
  EXPECT_TRUE(what_of<CheckpointEdit>("checkpoint:function=f,reentrant=true").reentrant);
  EXPECT_FALSE(what_of<CheckpointEdit>("checkpoint:function=f,reentrant=false").reentrant);
}

TEST(Edit, OffloadTakesHowFastAndFromWhere) {
  EXPECT_FALSE(what_of<OffloadEdit>("offload:saved").bandwidth);
  const auto how = what_of<OffloadEdit>("offload:saved,bandwidth=2GiB/s,pinned=true,to=host");
  EXPECT_EQ(how.bandwidth, 2.0 * static_cast<double>(kGiB));
  EXPECT_TRUE(how.pinned);
}

TEST(Edit, TheOthersTakeHowMuch) {
  EXPECT_EQ(what_of<ScaleEdit>("scale:saved,factor=0.5").factor, 0.5);
  EXPECT_EQ(what_of<ShortenEdit>("shorten:saved,events=7").events, 7u);
  const auto dtype = what_of<DtypeEdit>("dtype:saved,from=fp64,to=fp8");
  EXPECT_EQ(dtype.from, "fp64");
  EXPECT_EQ(dtype.to, "fp8");
}

TEST(Edit, AutocastTakesNoSelector) {
  EXPECT_EQ(what_of<AutocastEdit>("autocast").to, "bf16");
  EXPECT_TRUE(what_of<AutocastEdit>("autocast:to=bf16").cache);
  const auto how = what_of<AutocastEdit>("autocast:to=fp16,cache=false");
  EXPECT_EQ(how.to, "fp16");
  EXPECT_FALSE(how.cache);
  EXPECT_EQ(refusal("autocast:to=fp8"), "--edit: 'to=fp8'; expected to=bf16 or to=fp16");
  EXPECT_EQ(refusal("autocast:saved"),
            "--edit: 'saved'; expected to=bf16, to=fp16 or cache=false: autocast covers whole "
            "forward passes");
}

TEST(Edit, TypesHaveTheirBytes) {
  EXPECT_EQ(bytes_of_dtype("float64"), 8u);
  EXPECT_EQ(bytes_of_dtype("fp32"), 4u);
  EXPECT_EQ(bytes_of_dtype("bf16"), 2u);
  EXPECT_EQ(bytes_of_dtype("int8"), 1u);
  EXPECT_EQ(bytes_of_dtype("complex"), 0u);
}

TEST(Edit, AnUnknownVerbIsRefusedWithTheNearest) {
  EXPECT_EQ(refusal("checkpont:saved"),
            "--edit: unknown verb 'checkpont'; did you mean 'checkpoint'? (expected "
            "VERB:KEY=VALUE,… with one of checkpoint, offload, scale, drop, shorten, dtype, "
            "autocast)");
}

TEST(Edit, WithoutASelectorNothingIsEdited) {
  for (const std::string text : {"drop", "drop:", "drop:,&"}) {
    EXPECT_EQ(refusal(text), "--edit " + text + ": expected blocks to select, as VERB:KEY=VALUE,…");
  }
}

TEST(Edit, AnUnknownKeyIsRefusedWithThoseThatThereAre) {
  EXPECT_EQ(refusal("scale:saved,facter=2"),
            "--edit: 'facter=2'; expected a selector (code=, function=, stack=, category=, phase=, "
            "size>=, stream=, step=, lives=, saved) or an option of scale");
  EXPECT_NE(refusal("drop:saved,factor=2"), "taken") << "an option of another verb";
}

TEST(Edit, AValueThatIsNoneIsRefused) {
  EXPECT_EQ(refusal("scale:saved,factor=none"), "--edit: 'factor=none'; expected a number above 0");
  for (const std::string factor : {"0", "-1", "nan", "inf", "2x", ""}) {
    EXPECT_NE(refusal("scale:saved,factor=" + factor), "taken") << factor;
  }
  EXPECT_EQ(refusal("checkpoint:function=f,group=0"),
            "--edit: 'group=0'; expected a whole number above 0");
  EXPECT_EQ(refusal("checkpoint:function=f,group=4/"),
            "--edit: 'group=4/'; expected a whole number above 0");
  EXPECT_EQ(refusal("checkpoint:function=f,group=4/4"),
            "--edit: 'group=4/4'; expected fewer layers in the inner groups, such as group=4/2");
  EXPECT_EQ(refusal("checkpoint:function=f,group=4/2,reentrant=true"),
            "--edit checkpoint:function=f,group=4/2,reentrant=true: groups within groups cannot be "
            "reentrant");
  EXPECT_EQ(refusal("checkpoint:function=f,reentrant=yes"),
            "--edit: 'reentrant=yes'; expected true or false");
  EXPECT_EQ(refusal("offload:saved,bandwidth=fast"),
            "--edit: 'bandwidth=fast'; expected bytes a second, such as bandwidth=25GiB/s");
  EXPECT_EQ(refusal("offload:saved,to=disk"), "--edit: 'to=disk'; expected to=host");
  EXPECT_EQ(refusal("dtype:saved,to=complex"),
            "--edit: 'to=complex'; expected fp64, fp32, bf16, fp16, fp8 or int8");
}

TEST(Edit, WithoutAnAmountNothingIsScaledOrShortened) {
  EXPECT_EQ(refusal("scale:saved"), "--edit scale:saved: expected factor=NUMBER");
  EXPECT_EQ(refusal("shorten:saved"), "--edit shorten:saved: expected events=N");
}

TEST(Edit, CheckpointNeedsCodeAndOneWayToGroupIt) {
  EXPECT_EQ(refusal("checkpoint:saved"),
            "--edit checkpoint:saved: expected code=FILE:FIRST-LAST or function=NAME");
  EXPECT_EQ(
      refusal("checkpoint:function=f,group=2,only=2"),
      "--edit checkpoint:function=f,group=2,only=2: expected only one of group, only and segments");
}

TEST(Edit, ASelectorAloneHasItsOwnRefusals) {
  EXPECT_TRUE(parse_selector("--select", "saved").saved);
  const auto refused = [](const std::string& text) {
    try {
      parse_selector("--select", text);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused(""), "--select: no selector; expected KEY=VALUE,…");
  EXPECT_EQ(refused("group=2"),
            "--select: 'group=2'; expected code=, function=, stack=, category=, phase=, size>=, "
            "stream=, step=, lives= or saved");
}

}  // namespace

}  // namespace memreplay
