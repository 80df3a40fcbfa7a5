#pragma once

#include "analysis/explain/answer.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

/// How messages of a text are reported that is not a recording.
namespace memreplay {

/// The text's part up to what helps: the worst message, its figures, and a line for each other one.
void append_messages(Sheet& out, const ExplainedDevice& device);

/// What replaces and joins the keys of an explanation: a figure that the text lacks is null.
Json messages_json(const ExplainedDevice& device);

}  // namespace memreplay
