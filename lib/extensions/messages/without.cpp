#include "core/error.hpp"
#include "questions/explain/explained.hpp"
#include "questions/explain/message_phrases.hpp"
#include "report/parts/json_fields.hpp"

namespace memreplay {

// No recording is a text where nothing reads one.

ExplainedDevice explained_text_of(const Recording&, const ExplainQuestion&,
                                  const ExplainProgress&) {
  throw NotBuilt("what explains a text", "messages");
}

std::string message_sentence(const ExplainedMessage&) { return {}; }
std::string message_advice(const ExplainedMessage&) { return {}; }
std::string message_decides(const ExplainedMessage&) { return {}; }
std::string message_record(const ExplainedMessage&) { return {}; }
void append_messages(Sheet&, const ExplainedDevice&) {}
void fields(JsonFields&, const ExplainedMessage&) {}
void worst_message_fields(JsonFields&, const ExplainedMessage&) {}

}  // namespace memreplay
