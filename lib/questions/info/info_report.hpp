#pragma once

#include <string>

#include "questions/info/answer.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

std::string to_text(const InfoAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1", without a device and without runs.
std::string to_json(const InfoAnswer& answer);

/// The keys of its JSON.
void info_fields(JsonFields& f, const TraceSummary& trace);

}  // namespace memreplay
