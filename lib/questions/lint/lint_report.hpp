#pragma once

#include <string>

#include "questions/lint/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// Whether each setting is valid, and a paragraph for each issue.
std::string to_text(const LintAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with the setting, whether it is valid, and the issues; `further`
/// has other settings of the text.
std::string to_json(const LintAnswer& answer);
/// A row for each issue.
Table to_table(const LintAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const LintAnswer& answer);

}  // namespace memreplay
