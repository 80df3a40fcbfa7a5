#pragma once

#include <string>

#include "questions/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/table.hpp"

/// How what a program keeps after each of its steps looks.

namespace memreplay {

class JsonFields;

/// Whether it grows, by how much, from where on; else how much stays, or why nobody can tell.
std::string growth_sentence(const StepGrowth& growth);

/// What stands in the place of an explanation.
void append_growth(Sheet& out, const ExplainedDevice& device);

void fields(JsonFields& f, const StepGrowth& growth);

/// A row for every place that grows.
Table growth_table(const ExplainAnswer& answer);

/// The peaks of the phases; only the highest where there are more than the text shows. Says that
/// there are none where they are what is asked for.
void append_phases(Sheet& out, const Explanation& e);

/// A row for every phase.
Table phases_table(const ExplainAnswer& answer);

/// A place for a table: names of C++ functions can be longer than a line.
std::string shortened(const std::string& place);

/// The callers of what is live; small branches in one row each. Empty where no tree was asked for.
std::string tree_text(const Explanation& e);
/// A branch, with what it calls.
void fields(JsonFields& f, const CallNode& node);

}  // namespace memreplay
