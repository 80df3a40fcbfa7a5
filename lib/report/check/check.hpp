#pragma once

#include <string>

#include "analysis/check/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// What is over its limit, where, and what grew; then what is within.
std::string to_text(const CheckAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with every value under "metrics".
std::string to_json(const CheckAnswer& answer);
/// A row a value, exact.
Table to_table(const CheckAnswer& answer);
/// For a pull request: what is over the limit first, then what grew. GitHub's dialect.
std::string to_markdown(const CheckAnswer& answer);
/// JUnit's XML: a test case for each value.
std::string to_junit(const CheckAnswer& answer);

/// A line for each entry that was updated, and what changed in it.
std::string to_text(const UpdateAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1" with the changes of every entry.
std::string to_json(const UpdateAnswer& answer);
/// A row for each value that changed, exact.
Table to_table(const UpdateAnswer& answer);

}  // namespace memreplay
