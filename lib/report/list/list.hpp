#pragma once

#include <string>

#include "analysis/list/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// A table; the options of one strategy, or the columns of one format, below each other.
std::string to_text(const ListAnswer& answer, const TextStyle& style);
std::string to_json(const ListAnswer& answer);
Table to_table(const ListAnswer& answer);

}  // namespace memreplay
