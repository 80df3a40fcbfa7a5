#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_tgi(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNothing = "Not enough memory to handle";
  static const Pattern kTotal = "total tokens with";
  if (span.says(kNothing)) message[OomWord::type] = span.says(kTotal) ? "total" : "nothing left";
}

}  // namespace

// Text Generation Inference: server/models/*.py and router's infer.rs, 0.9 to 3.
MessageKind tgi_message() {
  return {.name = "tgi",
          .detail = "Text Generation Inference's lines about memory",
          .starts = {"Not enough memory to handle {tokens_needed} prefill tokens",
                     "Not enough memory to handle {tokens_needed} total tokens",
                     "Not enough memory to handle", "max batch total tokens to {tokens}",
                     "max batch total tokens: {tokens}", "KV-cache blocks: {kv_blocks}"},
          .complete = complete_tgi,
          .join = replace_all};
}

}  // namespace memreplay
