#pragma once

#include <string>

#include "questions/verify/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// A line a device, and what it needs beside.
std::string to_text(const VerifyAnswer& answer, const TextStyle& style);
/// Why it says nothing of the first device, where it applies to none.
std::string not_applicable_sentence(const VerifyAnswer& answer);
/// The schema "memreplay/1" with a run for each device. `worst` is the first file that diverges.
std::string to_json(const VerifyAnswer& answer);
/// A row for each device.
Table to_table(const VerifyAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const VerifiedFile& file);

}  // namespace memreplay
