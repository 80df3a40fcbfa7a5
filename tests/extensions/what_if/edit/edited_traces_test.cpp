#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "core/error.hpp"
#include "extensions/what_if/edit/edit.hpp"
#include "run/run.hpp"
#include "support/programs.hpp"
#include "trace/gate.hpp"
#include "trace/reader.hpp"

// What holds of every edit of every trace.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// A program that trains layers on random amounts of memory, and may die of it in the end.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  Recording recording() {
    program_.at({"models.py:3 __init__"});
    for (int i = 0; i < 3; ++i) ask();
    const int layers = 1 + below(4);
    for (int step = 0; step < 2; ++step) {
      program_.annotate("step", true);
      for (int layer = 0; layer < layers; ++layer) run_layer();
      if (step == 1 && below(3) == 0) {
        program_.die(77);
        break;
      }
      program_.at({"train.py:6 step"});
      saved_.push_back(ask());
      go_back();
      program_.at({"torch/optim/adam.py:9 step", "train.py:7 step"});
      program_.free(ask());
      program_.annotate("step", false);
    }
    return program_.recording();
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  Bytes ask() {
    program_.ask(next_ += 1 + static_cast<Bytes>(below(5000)));
    return next_;
  }
  void free(Bytes block) {
    if (below(8) > 0) {
      program_.free(block);
    } else {
      program_.request_free(block);
      pending_.push_back(block);
    }
  }
  void complete() {
    for (const Bytes block : pending_) program_.complete_free(block);
    pending_.clear();
  }

  void run_layer() {
    for (int line = 11; line < 14; ++line) {
      if (below(4) == 0) {
        auto frames = layer_line(line);
        frames.insert(frames.begin(), "torch/nn/functional.py:9 linear");
        program_.at(frames);
      } else {
        program_.at(layer_line(line));
      }
      for (int i = below(3); i >= 0; --i) {
        const Bytes block = ask();
        below(3) > 0 ? saved_.push_back(block) : free(block);
      }
    }
    complete();
  }

  void go_back() {
    program_.backward();
    Bytes gradient = ask();
    while (!saved_.empty()) {
      if (below(3) > 0) {
        const Bytes next = ask();
        free(gradient);
        gradient = next;
      }
      const auto at = saved_.end() - 1 - below(std::min<int>(3, static_cast<int>(saved_.size())));
      free(*at);
      saved_.erase(at);
    }
    free(gradient);
    complete();
  }

  std::mt19937 random_;
  ProgramWriter program_;
  Bytes next_ = 0;
  std::vector<Bytes> saved_;
  std::vector<Bytes> pending_;
};

const char* const kEdits[] = {"checkpoint:function=forward",
                              "checkpoint:function=forward,group=2",
                              "checkpoint:function=forward,only=2,reentrant=true",
                              "checkpoint:function=forward,segments=2",
                              "checkpoint:code=models.py:11-12",
                              "offload:saved",
                              "offload:size>=9KiB",
                              "scale:category=activation,factor=1.7",
                              "drop:category=temporary",
                              "shorten:size>=0,events=3",
                              "dtype:phase=step,to=fp16",
                              "autocast",
                              "autocast:to=fp16,cache=false"};

MadeRecordings made(const Recording& recording, const std::vector<Edit>& edits) {
  return edited(Subject(recording, recording.traces.front()), edits);
}

TEST(EditedTraces, EveryOneIsATraceThatReplaysMayTake) {
  int made_at_all = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Recording recording = RandomProgram(seed).recording();
    ASSERT_FALSE(fault_in(recording.traces.front()));
    for (const std::string first : kEdits) {
      for (const std::string second : {"", kEdits[seed % std::size(kEdits)]}) {
        SCOPED_TRACE(fmt::format("seed {}: {} {}", seed, first, second));
        std::vector<Edit> edits = {parse_edit(first)};
        if (!second.empty()) edits.push_back(parse_edit(second));
        try {
          const MadeRecordings all = made(recording, edits);
          ++made_at_all;
          const auto fault = fault_in(all.likeliest.trace());
          EXPECT_FALSE(fault) << fault->place << ": " << fault->what;
          for (const MadeRecording& other : all.others) EXPECT_FALSE(fault_in(other.trace()));
        } catch (const UsageError&) {
          continue;  // it selects nothing
        }
      }
    }
  }
  EXPECT_GT(made_at_all, 600);
}

std::multiset<Bytes> left_at_the_end(const Trace& trace) {
  std::multiset<Bytes> left;
  for (const BlockLife& life : lives_of(trace).blocks) {
    if (life.freed == BlockLife::kNever) left.insert(life.size);
  }
  return left;
}

TEST(EditedTraces, AFinishedProgramEndsWithWhatItEndedWith) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Recording recording = RandomProgram(seed).recording();
    const Trace& trace = recording.traces.front();
    if (std::ranges::count(trace.ops, Op::oom) > 0) continue;
    for (const char* const edit : {kEdits[0], kEdits[1], kEdits[2], kEdits[5]}) {
      SCOPED_TRACE(fmt::format("seed {}: {}", seed, edit));
      try {
        EXPECT_EQ(left_at_the_end(made(recording, {parse_edit(edit)}).likeliest.trace()),
                  left_at_the_end(trace));
      } catch (const UsageError&) {
        continue;
      }
    }
  }
}

/// The recordings beside the project's traces.
std::vector<Recording> bundled() {
  std::vector<Recording> recordings;
  for (const auto& file : fs::directory_iterator(fs::path(MEMREPLAY_TRACES) / "torch")) {
    const std::string name = file.path().filename().string();
    if (name.ends_with(".pickle") || name.ends_with(".pickle.gz")) {
      recordings.push_back(read_recording(file.path().string()));
    }
  }
  return recordings;
}

Run run_of(const Subject& subject, const std::string& strategy) {
  const LateStart late(subject, replay_options(subject.trace(), {}, {}));
  return run(subject, parse_strategy(strategy), simulated(sized_for(subject, {})), {}, late,
             nullptr, {});
}

TEST(EditedTraces, RecordingsMayShrinkWhatWasThereBeforeThemToo) {
  for (const Recording& recording : bundled()) {
    const MadeRecordings halved = made(recording, {parse_edit("scale:size>=0,factor=0.5")});
    const auto fault = fault_in(halved.likeliest.trace());
    EXPECT_FALSE(fault) << recording.path << ": " << fault->place << ": " << fault->what;
  }
}

TEST(EditedTraces, WherePlacesDecideTheRecordedAllocatorsReplayIsAnEstimate) {
  const Recording recording =
      read_recording(fs::path(MEMREPLAY_TRACES) / "torch" / "ties_by_address.pickle");
  const MadeRecordings same = made(recording, {parse_edit("scale:size>=0,factor=1")});
  const Subject subject(same.likeliest.recording, same.likeliest.trace(), same.likeliest.origin);
  const auto recorded = run_of(subject, "recorded");
  EXPECT_FALSE(recorded.exact);
  EXPECT_EQ(recorded.inexact_because,
            "in this release addresses decide among free blocks of equal size, and those of an "
            "edited program are not recorded");
  EXPECT_TRUE(run_of(subject, "torch").exact);
}

}  // namespace
}  // namespace memreplay
