#pragma once

#include <string>

#include "questions/tune/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// What to set, then the outcomes by rank, the effort, the line to paste and what must be known.
std::string to_text(const TuneAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with a run for every outcome of each trace.
std::string to_json(const TuneAnswer& answer);
/// A row for every distinct outcome.
Table to_table(const TuneAnswer& answer);
std::string to_markdown(const TuneAnswer& answer);

/// Why a device is too small for every setting: the sentence of `explain`, and what proves it.
/// Empty where a setting serves every request, or the search was cut short before one did.
std::string helpless_sentence(const TuneAnswer& answer);

/// The keys of its JSON.
void tuned_fields(JsonFields& f, const TuneAnswer& answer, std::size_t trace);
void best_field(JsonFields& f, const TuneAnswer& answer);

}  // namespace memreplay
