#pragma once

#include <string>

#include "questions/settings/result.hpp"

/// How the reports of a search say the same things.
namespace memreplay {

/// A configuration for a line of text: "roundup_power2_divisions:[…]".
std::string list_shortened(std::string conf);

/// A configuration for a sentence, "(default)" where it is empty.
std::string setting_phrase(const std::string& conf);

/// The whole configuration, so that it can be pasted.
std::string whole_setting(const std::string& conf);

/// The highest reserved peak, with its interval where it is estimated.
std::string peak_phrase(const TuneOutcome& outcome);

/// "no retry", "1 retry", "13 retries"
std::string retries_phrase(std::uint64_t count);

/// "export PYTORCH_CUDA_ALLOC_CONF=…", or that of another original.
std::string line_to_set_best(const TuneResult& result);

/// What the recommended setting is better in than the one in use.
std::string gain_sentence(const TuneResult& result);

/// What recordings that start late leave of a recommendation. Empty where none does.
std::string late_sentence(const TuneResult& result, const LateVerdict& late);

}  // namespace memreplay
