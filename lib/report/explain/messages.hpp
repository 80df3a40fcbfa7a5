#pragma once

#include "analysis/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"

/// How messages of a text are reported that is not a recording.
namespace memreplay {

class JsonFields;

/// The text's part up to what helps: the worst message, its figures, and a line for each other one.
void append_messages(Sheet& out, const ExplainedDevice& device);

void fields(JsonFields& f, const ExplainedMessage& message);
/// With what only the worst one is asked for.
void worst_message_fields(JsonFields& f, const ExplainedMessage& message);

}  // namespace memreplay
