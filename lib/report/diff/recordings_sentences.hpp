#pragma once

#include <string>

#include "analysis/diff/answer.hpp"

/// What the text of two recordings says in sentences; empty where there is nothing to say.
namespace memreplay {

/// Allocated, requested where that is not known.
Bytes held(const SpanPeak& peak);

/// What the recordings do, ask for and reserve is the same throughout.
bool nothing_differs(const RecordingsAnswer& answer);

/// Which side needs more, and which place most of it is.
std::string headline(const RecordingsAnswer& answer);
/// What differs or does not beside the peaks.
std::string requests_sentence(const RecordingsAnswer& answer);
std::string first_difference_sentence(const RecordingsDiff& diff);
/// How many blocks are the same at both peaks.
std::string match_sentence(const RecordingsDiff& diff);
/// Where the steps are taken from.
std::string steps_sentence(const RecordingsDiff& diff);
/// A sentence that sizes stand for places.
std::string stacks_sentence(const RecordingsDiff& diff);

}  // namespace memreplay
