#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_tensorrt(OomMessage& message, const MessageSpan& span) {
  static const Pattern kSkipped = "Skipping tactic";
  message.harmless = span.says(kSkipped);
  if (message.harmless) message[OomWord::type] = "skipped";
}

}  // namespace

// TensorRT's log of 5 to 10: the builder goes on without a tactic that has too little memory.
MessageKind tensorrt_message() {
  return {.name = "tensorrt",
          .detail = "TensorRT's log",
          .starts = {"Requested amount of GPU memory ({requested}) could not be allocated",
                     "Requested amount of memory ({requested}) could not be allocated",
                     "due to insufficient memory on requested size of {requested:B}",
                     "due to oom error on requested size of {requested:B}"},
          .fields = {"on requested size of {requested:B}"},
          .complete = complete_tensorrt,
          .join = add_missing};
}

}  // namespace memreplay
