#pragma once

#include <string>

#include "extensions/stress/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// The margin in a sentence, then for each device of the recordings a table of what the orders
/// reserve, and what was permuted.
std::string to_text(const StressAnswer& answer, const TextStyle& style);
/// Why there is nothing to answer, where none of its recordings has orders.
std::string nothing_to_order_sentence(const StressAnswer& answer);
/// The schema "memreplay/1" with a run for each strategy. `worst` has the largest margin.
std::string to_json(const StressAnswer& answer);
/// A row for each strategy on each device of the recordings: exact bytes.
Table to_table(const StressAnswer& answer);

/// The keys of its JSON.
void fields(JsonFields& f, const StressedDevice& device);

}  // namespace memreplay
