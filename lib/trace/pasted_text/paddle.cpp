#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_paddle(OomMessage& message, const MessageSpan&) {
  message[Figure::lacking] =
      difference_of(message[Figure::requested], message[Figure::device_free]);
  message[OomWord::type] = "device";
}

}  // namespace

// Paddle's cuda_allocator.cc and gpu_info.cc: "has been allocated" since 2.0; GB of 2^30 bytes.
MessageKind paddle_message() {
  return {
      .name = "paddle",
      .detail = "Paddle's OOM message",
      .starts = {"Out of memory error on GPU {gpu}.", "Out of memory error on",
                 "Cannot allocate {requested} memory on", "Cannot malloc {requested} GPU memory"},
      .fields = {"Cannot allocate {requested} memory on GPU {gpu}",
                 "Cannot allocate {requested} GPU memory", "available memory is {device_free}",
                 "memory on GPU {gpu}", ", {live} memory has been allocated",
                 "available memory is only {device_free}", "memory usage is limited to {limit}"},
      .complete = complete_paddle,
      .join = add_missing};
}

}  // namespace memreplay
