#pragma once

#include <string>

#include "questions/fit/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// A table for each device of the recordings, then what its sizes are made of and which cards
/// suffice; with several ranks the one that decides.
std::string to_text(const FitAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with a run for each strategy. `worst` needs the largest device.
std::string to_json(const FitAnswer& answer);
/// A row for each strategy on each device of the recordings: exact bytes.
Table to_table(const FitAnswer& answer);
/// The text's first table, then exact bytes.
std::string to_markdown(const FitAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const FittedDevice& device);

}  // namespace memreplay
