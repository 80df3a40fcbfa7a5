#include "analysis/edit/edited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/edit/block_edits.hpp"
#include "analysis/edit/checkpoint.hpp"

namespace memreplay {
namespace {

/// One way to make all edits.
struct Made {
  MadeRecording recording;
  std::vector<EditFacts> facts;
  bool open = false;  ///< keeping outputs or not makes a difference
};

const char* const kWhy =
    "the program was edited, and when its blocks would die is told by their stacks, of some only "
    "within limits";

bool is_checkpoint(const Edit& edit) { return std::holds_alternative<CheckpointEdit>(edit.what); }

Rewritten edit_once(const Subject& subject, const Edit& edit, const CheckpointGuess& guess,
                    Made& made) {
  const Recording& recording = subject.recording();
  const Trace& trace = subject.trace();
  if (is_checkpoint(edit)) {
    Checkpointed checkpointed = memreplay::checkpointed(recording, trace, edit, guess);
    made.open |= checkpointed.open;
    made.facts.push_back(std::move(checkpointed.facts));
    return std::move(checkpointed.written);
  }
  // A forward pass is no segment: nothing is kept to its end.
  const Deaths deaths = guess.deaths == Deaths::at_the_end ? Deaths::by_scope : guess.deaths;
  EditedBlocks blocks = std::holds_alternative<OffloadEdit>(edit.what)
                            ? offloaded(recording, trace, edit, deaths)
                            : with_blocks_changed(recording, trace, edit);
  made.facts.push_back(std::move(blocks.facts));
  return std::move(blocks.written);
}

bool guesses(const Edit& edit) {
  return is_checkpoint(edit) || std::holds_alternative<OffloadEdit>(edit.what);
}

/// What is open of the recording that is edited stays so.
std::string what_is_open(const Subject& subject, std::span<const Edit> edits) {
  const std::string before = subject.origin() == nullptr ? "" : subject.origin()->why_inexact;
  if (std::ranges::none_of(edits, guesses)) return before;
  return before.empty() ? kWhy : fmt::format("{}; {}", before, kWhy);
}

Made make(const Subject& subject, std::span<const Edit> edits, const CheckpointGuess& guess) {
  Made made;
  const std::string why = what_is_open(subject, edits);
  std::optional<Subject> edited;
  for (const Edit& edit : edits) {
    const Subject& before = edited ? *edited : subject;
    MadeRecording next = made_recording(before, edit_once(before, edit, guess, made), why);
    edited.reset();
    made.recording = std::move(next);
    edited.emplace(made.recording.recording, made.recording.trace(), made.recording.origin);
  }
  return made;
}

}  // namespace

MadeRecordings edited(const Subject& subject, std::span<const Edit> edits) {
  Made likeliest = make(subject, edits, {});
  MadeRecordings all{.likeliest = std::move(likeliest.recording),
                     .edits = std::move(likeliest.facts)};
  if (std::ranges::none_of(edits, guesses)) return all;
  for (const Deaths deaths :
       {Deaths::by_scope, Deaths::rebound, Deaths::at_once, Deaths::at_the_end}) {
    for (const bool keeps : {true, false}) {
      if (deaths == Deaths::by_scope && keeps) continue;
      if (!keeps && !likeliest.open) continue;
      all.others.push_back(make(subject, edits, {deaths, keeps}).recording);
    }
  }
  if (std::ranges::any_of(edits, is_checkpoint)) {
    all.others.push_back(
        make(subject, edits, {.deaths = Deaths::rebound, .returns_more = true}).recording);
  }
  return all;
}

MadeRecordings edited(const MadeRecordings& made, std::span<const Edit> edits) {
  const auto subject = [](const MadeRecording& one) {
    return Subject(one.recording, one.trace(), one.origin);
  };
  MadeRecordings all = edited(subject(made.likeliest), edits);
  for (const MadeRecording& other : made.others) {
    all.others.push_back(edited(subject(other), edits).likeliest);
    all.others.back().reach = other.reach;
  }
  all.reserved_open = made.reserved_open;
  all.predicted = made.predicted;
  return all;
}

}  // namespace memreplay
