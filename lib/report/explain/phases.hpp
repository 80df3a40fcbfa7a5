#pragma once

#include "analysis/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/table.hpp"

namespace memreplay {

/// The peaks of the phases; of more than the text shows the highest. That there are none is said
/// where they are what is asked for.
void append_phases(Sheet& out, const Explanation& e);

/// A row for every phase.
Table phases_table(const ExplainAnswer& answer);

}  // namespace memreplay
