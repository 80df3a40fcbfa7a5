#pragma once

#include <string>

#include "analysis/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"

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

}  // namespace memreplay
