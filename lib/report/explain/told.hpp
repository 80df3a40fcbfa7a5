#pragma once

#include "analysis/explain/answer.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

/// How a failure looks that is known from a text alone.
namespace memreplay {

/// Its part of the text up to what helps.
void append_told(Sheet& out, const ExplainedDevice& device);

/// What replaces and joins the keys of an explanation: a figure that the text lacks is null.
Json told_json(const ExplainedDevice& device);

}  // namespace memreplay
