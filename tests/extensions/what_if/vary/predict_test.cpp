#include <gtest/gtest.h>

#include <deque>
#include <functional>

#include "core/error.hpp"
#include "extensions/what_if/vary/varied_program.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

using Write = std::function<void(RecordingWriter&, Bytes)>;

/// Recordings of one program, which `write` writes down for a value.
class Program {
 public:
  Program(const std::vector<std::int64_t>& values, const Write& write) {
    for (const std::int64_t value : values) add(value, write);
  }
  void add(std::int64_t value, const Write& write) {
    RecordingWriter writer;
    write(writer, static_cast<Bytes>(value));
    recordings_.push_back(writer.recording());
    values_.push_back(value);
  }

  MadeRecordings at(std::int64_t value) const {
    std::deque<Subject> subjects;
    std::vector<Varied> varied;
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      const Recording& recording = recordings_[i];
      varied.push_back({&subjects.emplace_back(recording, recording.traces[0]), values_[i]});
    }
    return predicted(varied, {"batch", value});
  }

 private:
  std::deque<Recording> recordings_;
  std::vector<std::int64_t> values_;
};

std::vector<Bytes> requests(const MadeRecording& made) {
  std::vector<Bytes> sizes;
  for (std::size_t event = 0; event < made.trace().size(); ++event) {
    if (made.trace().ops[event] == Op::allocate) sizes.push_back(made.trace().sizes[event]);
  }
  return sizes;
}

void plain(RecordingWriter& w, Bytes batch) {
  const std::uint32_t model = w.stack({"train.py:3 build"});
  const std::uint32_t layer = w.stack({"model.py:7 forward", "train.py:9 step"});
  w.alloc(0, 5000, model).alloc(1, 1000 * batch, layer).free(1);
}

TEST(Predict, SizesFollowFromTheRecordings) {
  const MadeRecordings made = Program({2, 4}, plain).at(16);
  EXPECT_EQ(requests(made.likeliest), (std::vector<Bytes>{5000, 16000}));
  EXPECT_TRUE(made.others.empty());
  EXPECT_EQ(made.predicted->structure, 1U);
  EXPECT_EQ(made.predicted->sources[0].paired, 2U);
  EXPECT_FALSE(made.predicted->sources[0].parts_at);
  EXPECT_FALSE(made.likeliest.origin->why_inexact.empty());
}

TEST(Predict, FreesHaveTheSizesOfTheirBlocks) {
  const Trace trace = Program({2, 4}, plain).at(3).likeliest.trace();
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{5000, 3000, 3000}));
}

// A native convolution asks once for each image.
TEST(Predict, WhatIsAskedForAgainAndAgainPairsAsOne) {
  const MadeRecordings made = Program({2, 4}, [](RecordingWriter& w, Bytes batch) {
                                const std::uint32_t layer = w.stack({"model.py:7 forward"});
                                for (Bytes i = 0; i < batch; ++i) w.alloc(0, 4096, layer).free(0);
                                w.alloc(1, 600 * batch, layer);
                              }).at(8);
  EXPECT_EQ(requests(made.likeliest), (std::vector<Bytes>{4096, 4096, 4096, 4096, 4800}));
  EXPECT_FALSE(made.predicted->sources[0].parts_at);
}

TEST(Predict, LinesThatMovedBetweenTheRecordingsAreTheSame) {
  Program program({2}, plain);
  program.add(4, [](RecordingWriter& w, Bytes batch) {
    const std::uint32_t model = w.stack({"train.py:4 build"});
    const std::uint32_t layer = w.stack({"model.py:7 forward", "train.py:10 step"});
    w.alloc(0, 5000, model).alloc(1, 1000 * batch, layer).free(1);
  });
  EXPECT_EQ(requests(program.at(16).likeliest), (std::vector<Bytes>{5000, 16000}));
}

void parting(RecordingWriter& w, Bytes batch) {
  const std::uint32_t layer = w.stack({"/app/model.py:7 forward"});
  const std::uint32_t sort = w.stack({"/app/sort.py:5 forward"});
  w.alloc(0, 1000 * batch, layer);
  if (batch > 3) w.alloc(1, 10000 * batch, sort).free(1);
  w.alloc(2, 300 * batch, layer).free(2).free(0);
}

TEST(Predict, WhereRecordingsPartBothCoursesAreMade) {
  const MadeRecordings made = Program({2, 4}, parting).at(8);
  EXPECT_EQ(requests(made.likeliest), (std::vector<Bytes>{8000, 80000, 2400}));
  // A block without its like may stay as it is.
  ASSERT_EQ(made.others.size(), 3U);
  EXPECT_EQ(requests(made.others[0]), (std::vector<Bytes>{8000, 40000, 2400}));
  EXPECT_EQ(requests(made.others[2]), (std::vector<Bytes>{8000, 2400}));
  const PredictionSource& other = made.predicted->sources[0];
  EXPECT_EQ(other.parts_at, std::pair(std::uint64_t{1}, std::uint64_t{1}));
  EXPECT_EQ(other.place, "sort.py:5 forward");
  EXPECT_EQ(other.unpaired_bytes, 40000U);
}

TEST(Predict, TheNearestRecordingGivesTheCourse) {
  EXPECT_EQ(requests(Program({2, 64}, parting).at(5).likeliest).size(), 2U);
  EXPECT_EQ(requests(Program({2, 64}, parting).at(40).likeliest).size(), 3U);
}

/// The backward of a linear layer of 256 inputs and 512 outputs; 128 rows for each of the batch.
void bias(RecordingWriter& w, Bytes batch) {
  const std::uint32_t layer = w.stack({"model.py:7 forward"});
  const Bytes rows = 128 * batch;
  w.alloc(0, 4 * rows * 512, layer);
  w.alloc(1, 4 * rows * 256).alloc(2, 4 * 512 * 256).alloc(3, 4 * 512);
  if (rows >= 1024) w.alloc(4, 8 * rows * 512).alloc(5, 16).free(5).free(4);
  w.free(1).free(0);
}

TEST(Predict, SumsOverManyRowsGetTheirStaging) {
  const MadeRecordings made = Program({2, 4}, bias).at(16);
  EXPECT_EQ(requests(made.likeliest),
            (std::vector<Bytes>{4 * 2048 * 512, 4 * 2048 * 256, 4 * 512 * 256, 4 * 512,
                                8 * 2048 * 512, 16}));
  EXPECT_EQ(made.predicted->staged_sums, 1U);
}

TEST(Predict, SumsOverFewRowsLoseTheirStaging) {
  EXPECT_EQ(requests(Program({8, 16}, bias).at(4).likeliest).size(), 4U);
}

/// The backward of a linear layer with as many inputs as outputs, over 2048 rows.
void bias_of_width(RecordingWriter& w, Bytes width) {
  const std::uint32_t layer = w.stack({"model.py:7 forward"});
  w.alloc(0, 4 * 2048 * width, layer);
  w.alloc(1, 4 * 2048 * width).alloc(2, 4 * width * width).alloc(3, 4 * width);
  w.alloc(4, 512 * width * 32).alloc(5, 4 * width / 128).free(5).free(4).free(1).free(0);
}

TEST(Predict, AWidthDoesNotDecideOverTheRowsOfASum) {
  EXPECT_EQ(requests(Program({256, 1536}, bias_of_width).at(640).likeliest),
            (std::vector<Bytes>{4 * 2048 * 640, 4 * 2048 * 640, 4 * 640 * 640, 4 * 640,
                                512 * 640 * 32, 4 * 5}));
}

TEST(Predict, StagingIsNotAddedWhereARecordingDidWithout) {
  const Write never = [](RecordingWriter& w, Bytes batch) {
    const std::uint32_t layer = w.stack({"model.py:7 forward"});
    w.alloc(0, 4 * 128 * batch * 512, layer);
    w.alloc(1, 4 * 128 * batch * 256).alloc(2, 4 * 512 * 256).alloc(3, 4 * 512);
  };
  EXPECT_EQ(requests(Program({2, 10}, never).at(32).likeliest).size(), 4U);
}

TEST(Predict, RecordingsOfTwoProgramsAreRefused) {
  Program program({2}, plain);
  program.add(4, [](RecordingWriter& w, Bytes batch) {
    const std::uint32_t other = w.stack({"other.py:1 main"});
    for (Slot slot = 0; slot < 4; ++slot) w.alloc(slot, 10 * batch, other);
  });
  try {
    program.at(8);
    FAIL() << "two programs";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("not of one program"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("event 0"), std::string::npos);
  }
}

std::string why_refused(const Program& program) {
  try {
    program.at(8);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "not refused";
}

/// Twelve layers with a weight and what they come to; with gradients, or in half precision.
void layers(RecordingWriter& w, Bytes batch, bool gradients, bool autocast) {
  const std::uint32_t built = w.stack({"model.py:3 __init__"});
  const std::uint32_t forward = w.stack({"model.py:7 forward"});
  const std::uint32_t backward = w.stack({"train.py:9 step"});
  for (Slot i = 0; i < 12; ++i) w.alloc(i, 40000 + 400 * i, built);
  for (Slot i = 0; i < 12; ++i) {
    if (autocast) w.alloc(100 + i, 20000 + 200 * i, forward);
    w.alloc(200 + i, 12000 * batch, forward);
  }
  for (Slot i = 0; gradients && i < 12; ++i) w.alloc(300 + i, 40000 + 400 * i, backward);
}

TEST(Predict, GradientsBesideNoneAreTwoPrograms) {
  Program program({2}, [](RecordingWriter& w, Bytes batch) { layers(w, batch, true, false); });
  program.add(4, [](RecordingWriter& w, Bytes batch) { layers(w, batch, false, false); });
  const std::string why = why_refused(program);
  EXPECT_NE(why.find("the second makes none of 12 requests of the first"), std::string::npos)
      << why;
  EXPECT_NE(why.find("event 24 (train.py:9 step)"), std::string::npos) << why;
}

TEST(Predict, AutocastBesideNoneIsTwoPrograms) {
  Program program({2}, [](RecordingWriter& w, Bytes batch) { layers(w, batch, false, false); });
  program.add(4, [](RecordingWriter& w, Bytes batch) { layers(w, batch, false, true); });
  const std::string why = why_refused(program);
  EXPECT_NE(why.find("autocast casts weights (12 requests of half their size, 0 in the second)"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("event 12 (model.py:7 forward)"), std::string::npos) << why;
}

TEST(Predict, AutocastIsSeenWhereAllWeightsAreOfOneSize) {
  const auto write = [](bool autocast) {
    return [autocast](RecordingWriter& w, Bytes batch) {
      const std::uint32_t built = w.stack({"model.py:3 __init__"});
      const std::uint32_t forward = w.stack({"model.py:7 forward"});
      for (Slot i = 0; i < 12; ++i) w.alloc(i, 40000, built);
      for (Slot i = 0; i < 12; ++i) {
        if (autocast) w.alloc(100 + i, 20000, forward);
        w.alloc(200 + i, 12000 * batch, forward);
      }
    };
  };
  Program program({2}, write(false));
  program.add(4, write(true));
  const std::string why = why_refused(program);
  EXPECT_NE(why.find("autocast casts weights (12 requests"), std::string::npos) << why;
}

// Both make requests that the other does not: a parameter alone does not do that.
TEST(Predict, OfOneProgramTheSmallerRecordingHasNothingOfItsOwn) {
  const auto write = [](Bytes own) {
    return [own](RecordingWriter& w, Bytes batch) {
      const std::uint32_t forward = w.stack({"model.py:7 forward"});
      const std::uint32_t other = w.stack({own == 3000 ? "model.py:8 cast" : "model.py:9 norm"});
      for (Slot i = 0; i < 60; ++i) w.alloc(i, 1000 * batch, forward);
      for (Slot i = 0; i < 4; ++i) w.alloc(100 + i, own, other);
    };
  };
  Program program({2}, write(3000));
  program.add(4, write(7000));
  const std::string why = why_refused(program);
  EXPECT_NE(why.find("60 of 64 requests correspond"), std::string::npos) << why;
}

/// A table that is padded to 32, of which multiples of 32 show nothing.
void padded(RecordingWriter& w, Bytes length) {
  const std::uint32_t attention = w.stack({"model.py:5 attention"});
  w.alloc(0, 40960 * length, attention).alloc(1, 48 * ((length + 31) / 32 * 32), attention);
}

TEST(Predict, SizesThatAreOpenSpanOthers) {
  const MadeRecordings made = Program({64, 96}, padded).at(200);
  EXPECT_EQ(made.predicted->open_sizes, 1U);
  EXPECT_EQ(requests(made.likeliest), (std::vector<Bytes>{40960 * 200, 48 * 200}));
  ASSERT_EQ(made.others.size(), 2U);
  EXPECT_EQ(requests(made.others[0]), (std::vector<Bytes>{40960 * 200, 48 * 200}));
  EXPECT_EQ(requests(made.others[1])[0], 40960U * 200);
  EXPECT_GE(requests(made.others[1])[1], 48U * 224);
}

/// A convolution, and what its library works in, as large as it pleases.
void convolution(RecordingWriter& w, Bytes batch) {
  const std::uint32_t conv = w.stack({"torch/nn/modules/conv.py:548 _conv_forward"});
  w.alloc(0, 1000 * batch, conv).alloc(1, batch == 8 ? 7000 : 4000, conv).free(1);
}

TEST(Predict, WorkspacesFollowNoLawOfTheProgram) {
  const MadeRecordings made = Program({8, 16}, convolution).at(32);
  EXPECT_EQ(made.predicted->open_sizes, 1U);
  ASSERT_EQ(made.others.size(), 2U);
  EXPECT_EQ(requests(made.others[0]), (std::vector<Bytes>{32000, 1}));
  EXPECT_EQ(requests(made.others[1]), (std::vector<Bytes>{32000, 28000}));
  EXPECT_GT(made.requested_open, 0);
  EXPECT_GT(made.reserved_open, 0);
}

TEST(Predict, WorkspacesBesideThePeakLeaveItExact) {
  const MadeRecordings made = Program({8, 16}, [](RecordingWriter& w, Bytes batch) {
                                const std::uint32_t step = w.stack({"train.py:5 step"});
                                convolution(w, batch);
                                w.alloc(2, 100000 * batch, step);
                              }).at(32);
  EXPECT_EQ(made.predicted->open_sizes, 1U);
  EXPECT_EQ(made.requested_open, 0);
}

/// A loop over the length, each pass of which keeps a block.
void loop(RecordingWriter& w, Bytes length) {
  const std::uint32_t step = w.stack({"model.py:5 step"});
  for (Slot i = 0; i < length; ++i) w.alloc(i, 4096, step);
}

TEST(Predict, WhereLoopsGetLongerTheOtherCourseReachesFurther) {
  const MadeRecordings made = Program({16, 32}, loop).at(64);
  ASSERT_EQ(made.others.size(), 1U);
  EXPECT_EQ(made.others[0].reach, -2.0) << "from 32 to 64, seen from 16";
}

}  // namespace
}  // namespace memreplay
