#pragma once

#include <string>

#include "analysis/tune/late_recordings.hpp"

/// How the reports of a search say the same things.
namespace memreplay {

/// A configuration for a line of text: "roundup_power2_divisions:[…]".
std::string list_shortened(std::string conf);

/// The same, "(default)" where it is empty.
std::string setting_phrase(const std::string& conf);

/// The highest reserved peak, with its interval where it is estimated.
std::string peak_phrase(const TuneOutcome& outcome);

/// What recordings that start late leave of a recommendation. Empty where none does.
std::string late_sentence(const TuneResult& result, const LateVerdict& late);

}  // namespace memreplay
