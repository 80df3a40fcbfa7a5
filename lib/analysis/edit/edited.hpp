#pragma once

#include <span>

#include "analysis/edit/edit.hpp"
#include "analysis/edit/made_recording.hpp"

namespace memreplay {

/// The recording with the edits made one after the other. Throws UsageError where one selects
/// nothing, or needs what the recording lacks. O(edits · events), for each of the guesses.
MadeRecordings edited(const Subject& subject, std::span<const Edit> edits);

/// Each of them edited: the likeliest ways of the others stand beside those of the likeliest.
MadeRecordings edited(const MadeRecordings& made, std::span<const Edit> edits);

}  // namespace memreplay
