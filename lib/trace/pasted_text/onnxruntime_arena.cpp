#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

// onnxruntime/core/framework/bfc_arena.cc since 1.8, its verbose lines; requested and rounded bytes
// since 1.17.
MessageKind onnxruntime_arena_message() {
  return {.name = "onnxruntime-arena",
          .detail = "a log of ONNX Runtime's arena",
          .starts = {"Creating BFCArena for {buffer} with following configs",
                     "Creating {*}Arena for {buffer} with following configs",
                     "Extending BFCArena for {buffer}.",
                     "Reserving memory in BFCArena for {buffer} size: {requested:B}",
                     "Extended allocation by {grown}", "Total allocated bytes: {reserved:B}"},
          .fields = {"memory limit: {limit:B}", "arena_extend_strategy: {strategy}",
                     "(requested) num_bytes: {requested:B}", "num_bytes: {requested:B}",
                     "bin_num: {number} rounded_bytes: {requested:B}"},
          .complete = [](OomMessage& message, const MessageSpan&) { message.overflows.clear(); },
          .join = replace_all};
}

}  // namespace memreplay
