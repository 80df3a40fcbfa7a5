#pragma once

#include <string>

#include "extensions/ranks/answer.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

class JsonFields;

/// Who ran out of memory, and what the others need.
std::string ranks_sentence(const RanksAnswer& answer);
/// A line for each rank, or for those that are alike.
std::string ranks_rows(const RanksAnswer& answer, const TextStyle& style);
/// How every text about several ranks begins: the sentence, why the worst ran out, and the rows.
std::string ranks_beginning(const RanksAnswer& answer, const TextStyle& style);
/// The beginning, the spread, who is like whom and who departs; the last line is a sentence.
std::string to_text(const RanksAnswer& answer, const TextStyle& style);
/// The schema "memreplay/1"; the same for the same ranks, on however many machines.
std::string to_json(const RanksAnswer& answer);
/// A row for each rank and strategy, the worst first.
Table to_table(const RanksAnswer& answer);

/// What is left to do with a part; its table is that of its rows, without their classes.
std::string to_text(const RanksPart& part, const TextStyle& style);
std::string to_json(const RanksPart& part);
Table to_table(const RanksPart& part);

/// "0-4, 6"
std::string ranks_text(const std::vector<std::uint64_t>& ranks);

/// The keys of its JSON.
void fields(JsonFields& f, const RanksAnswer& answer);

}  // namespace memreplay
