#include "analysis/edit/edited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/edit/autocast.hpp"
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

/// What the edits leave open.
struct EditGuess {
  CheckpointGuess lives;
  AutocastGuess types;
};

const char* const kWhy =
    "the program was edited, and when its blocks would die is told by their stacks, of some only "
    "within limits";
const char* const kWhyTypes =
    "the program was edited, as one that runs in fp32, and which blocks autocast makes smaller or "
    "copies is told by their stacks and sizes, of some only within limits";

bool is_checkpoint(const Edit& edit) { return std::holds_alternative<CheckpointEdit>(edit.what); }

bool is_autocast(const Edit& edit) { return std::holds_alternative<AutocastEdit>(edit.what); }

Rewritten edit_once(const Subject& subject, const Edit& edit, const EditGuess& guess, Made& made) {
  const Recording& recording = subject.recording();
  const Trace& trace = subject.trace();
  if (is_checkpoint(edit)) {
    Checkpointed checkpointed = memreplay::checkpointed(recording, trace, edit, guess.lives);
    made.open |= checkpointed.open;
    made.facts.push_back(std::move(checkpointed.facts));
    return std::move(checkpointed.written);
  }
  // A forward pass is no segment: nothing is kept to its end.
  const Deaths deaths =
      guess.lives.deaths == Deaths::at_the_end ? Deaths::by_scope : guess.lives.deaths;
  EditedBlocks blocks = is_autocast(edit) ? autocasted(recording, trace, edit, guess.types)
                        : std::holds_alternative<OffloadEdit>(edit.what)
                            ? offloaded(recording, trace, edit, deaths)
                            : with_blocks_changed(recording, trace, edit);
  made.facts.push_back(std::move(blocks.facts));
  return std::move(blocks.written);
}

bool guesses_lives(const Edit& edit) {
  return is_checkpoint(edit) || std::holds_alternative<OffloadEdit>(edit.what);
}

/// What is open of the recording that is edited stays so.
std::string what_is_open(const Subject& subject, std::span<const Edit> edits) {
  std::string why = subject.origin() == nullptr ? "" : subject.origin()->why_inexact;
  const auto add = [&](const char* more) { why += (why.empty() ? "" : "; ") + std::string(more); };
  if (std::ranges::any_of(edits, guesses_lives)) add(kWhy);
  if (std::ranges::any_of(edits, is_autocast)) add(kWhyTypes);
  return why;
}

Made make(const Subject& subject, std::span<const Edit> edits, const EditGuess& guess) {
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

/// Ways beside the likeliest one; `open`: whether outputs are kept makes a difference.
std::vector<CheckpointGuess> ways_to_live(std::span<const Edit> edits, bool open) {
  std::vector<CheckpointGuess> ways;
  for (const Deaths deaths :
       {Deaths::by_scope, Deaths::rebound, Deaths::at_once, Deaths::at_the_end}) {
    for (const bool keeps : {true, false}) {
      if (deaths == Deaths::by_scope && keeps) continue;
      if (keeps || open) ways.push_back({deaths, keeps});
    }
  }
  if (std::ranges::any_of(edits, is_checkpoint))
    ways.push_back({.deaths = Deaths::rebound, .returns_more = true});
  return ways;
}

// By so much recorded programs under autocast are off where every operation has a name: small
// copies are left out, and the order of frees is not that of the engine in each place.
constexpr double kRequestedOpen = 0.01;
constexpr double kReservedOpen = 0.04;

/// Likewise, of the types that autocast gives.
struct WayToCast {
  AutocastGuess types;
  double reach = 0;  ///< see MadeRecording
};

/// Beside the likeliest one. All unnamed operations in fp32 are most that can be wrong one way; as
/// much may be the other way, such as by operations that are thought to copy and do not.
constexpr std::array kWaysToCast = {
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::single}, .reach = -1},
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::half}},
    WayToCast{.types = {.unnamed = AutocastGuess::Unnamed::half, .halves_mixed = true}},
    WayToCast{.types = {.halves_mixed = true}},
    WayToCast{.types = {.keeps_inputs = true}},
};

}  // namespace

MadeRecordings edited(const Subject& subject, std::span<const Edit> edits) {
  Made likeliest = make(subject, edits, {});
  MadeRecordings all{.likeliest = std::move(likeliest.recording),
                     .edits = std::move(likeliest.facts)};
  if (std::ranges::any_of(edits, guesses_lives)) {
    for (const CheckpointGuess& lives : ways_to_live(edits, likeliest.open))
      all.others.push_back(make(subject, edits, {.lives = lives, .types = {}}).recording);
  }
  if (std::ranges::any_of(edits, is_autocast)) {
    for (const WayToCast& way : kWaysToCast) {
      all.others.push_back(make(subject, edits, {.lives = {}, .types = way.types}).recording);
      all.others.back().reach = way.reach;
    }
    all.requested_open = kRequestedOpen;
    all.reserved_open = kReservedOpen;
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
  all.reserved_open = std::max(all.reserved_open, made.reserved_open);
  all.predicted = made.predicted;
  return all;
}

}  // namespace memreplay
