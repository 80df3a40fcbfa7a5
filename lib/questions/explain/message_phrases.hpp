#pragma once

#include <string>

#include "questions/explain/answer.hpp"
#include "report/parts/paragraphs.hpp"

/// What is said of a message of a text: first what is certain, or likely, then what helps, what
/// would decide, and how to record more.

namespace memreplay {

/// What it says, or why a request failed by it, with how sure that is.
std::string message_sentence(const ExplainedMessage& message);
/// What usually helps there. Empty where nothing does.
std::string message_advice(const ExplainedMessage& message);
/// What is not in the text, and would decide.
std::string message_decides(const ExplainedMessage& message);
/// How a recording is made that has it. Empty where there is no way.
std::string message_record(const ExplainedMessage& message);

/// Phrases for the kinds of messages that state their reason: the first whose figures are all
/// there.
struct KindPhrases {
  std::string sentence;
  std::string advice;
  std::string record;
};
KindPhrases phrases_of(const OomMessage& message);

/// How messages of a text are reported that is not a recording.

class JsonFields;

/// The text's part up to what helps: the worst message, its figures, and a line for each other one.
void append_messages(Sheet& out, const ExplainedDevice& device);

void fields(JsonFields& f, const ExplainedMessage& message);
/// With what only the worst one is asked for.
void worst_message_fields(JsonFields& f, const ExplainedMessage& message);

}  // namespace memreplay
