#pragma once

#include <optional>

#include "program/facts.hpp"
#include "program/rewrite.hpp"

namespace memreplay {

/// Unset where no OOM ends the recording, or the step in which it came repeats an earlier whole
/// step whose rest needs no more memory than was recorded. A step of a training program is a
/// forward and a backward pass whose gradients were used; else steps are told by markers and
/// profiler steps. O(events log events) for a recording with an OOM, else O(events).
std::optional<EarlyEnd> early_end(const Recording& recording, const Trace& trace);

/// The same and what else a recording says of its program.
RecordingFacts facts_of(const Recording& recording, const Trace& trace);

/// Measured on 125 programs whose second step was cut short: where the third went on as the first,
/// none needed more than 1.7 % beyond it. So a completed program's need is open by one part of:
inline constexpr Bytes kPartsOfRest = 32;

struct CompletedRecording {
  MadeRecording made;
  bool begins_alike = true;  ///< the earlier step began with as many gradients
};

/// The recording with the rest of the step at whose OOM it ends, as an earlier step went on from
/// there; what an optimizer keeps from its first step on is not requested again. Unset where no
/// OOM ends it, or no earlier step is like it up to there. O(events log events).
std::optional<CompletedRecording> with_rest_of_step(const Subject& subject);

}  // namespace memreplay
