#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/made_facts.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {

/// "3,280 times the largest recorded value"; empty where it is not or hardly.
std::string beyond_phrase(const PredictionFacts& facts, std::int64_t value);
/// "batch = 16, predicted from batch = 2 and 4"
std::string prediction_name(const PredictionFacts& facts);

/// What the prediction rests on, and what would make it surer.
std::vector<std::string> prediction_sentences(const PredictionFacts& facts);

void fields(JsonFields& f, const PredictionFacts& facts);

}  // namespace memreplay
