#pragma once

#include "analysis/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/table.hpp"

namespace memreplay {

/// The peaks of the phases; only the highest where there are more than the text shows. Says that
/// there are none where they are what is asked for.
void append_phases(Sheet& out, const Explanation& e);

/// A row for every phase.
Table phases_table(const ExplainAnswer& answer);

}  // namespace memreplay
