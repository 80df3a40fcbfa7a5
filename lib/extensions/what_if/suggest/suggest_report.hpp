#pragma once

#include <string>
#include <vector>

#include "extensions/what_if/suggest/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// What to change first, then a table of what was tried.
std::string to_text(const SuggestAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with "suggestions" for each device.
std::string to_json(const SuggestAnswer& answer);
/// A row for each suggestion: exact bytes.
Table to_table(const SuggestAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const SuggestedDevice& device);

/// What to write into a program for an edit.
struct CodeChange {
  std::string what;                 ///< "checkpoint forward where models.py:80 calls it"
  std::vector<std::string> python;  ///< a few lines, the names of variables made up
};

CodeChange code_change(const SuggestedEdit& edit);

}  // namespace memreplay
