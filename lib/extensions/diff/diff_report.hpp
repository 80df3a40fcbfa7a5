#pragma once

#include <string>

#include "extensions/diff/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// What B needs more or less than A, by place and by step, and where the programs first ask for
/// something else.
std::string to_text(const RecordingsAnswer& answer, const TextStyle& style);
std::string to_json(const RecordingsAnswer& answer);
/// A row a place.
Table to_table(const RecordingsAnswer& answer);
std::string to_markdown(const RecordingsAnswer& answer);

/// Which strategy reserves less, and what both hold where they part.
std::string to_text(const StrategiesAnswer& answer, const TextStyle& style);
std::string to_json(const StrategiesAnswer& answer);
/// A row for each strategy at each event at which they part, and at their peaks.
Table to_table(const StrategiesAnswer& answer);
std::string to_markdown(const StrategiesAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const RecordingsAnswer& answer);
void fields(JsonFields& f, const StrategiesAnswer& answer);

}  // namespace memreplay
