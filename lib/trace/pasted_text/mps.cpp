#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_mps(OomMessage& message, const MessageSpan&) {
  message[OomWord::backend] = "MPS";
  const auto held = sum_of(message[Figure::live], message[Figure::requested]);
  message[Figure::lacking] =
      difference_of(sum_of(held, message[Figure::outside]), message[Figure::limit]);
}

}  // namespace

// aten/src/ATen/mps/MPSAllocator.mm: GB, of 2^30 bytes, since 1.12 and GiB since 2.9; a buffer
// beyond Metal's limit is invalid.
MessageKind mps_message() {
  return {.name = "mps",
          .detail = "the message of PyTorch's MPS back end",
          .starts = {"MPS backend out of memory", "Invalid buffer size: {requested}"},
          .fields = {"MPS allocated: {live}", "currently allocated: {live}",
                     "other allocations: {outside}", "max allowed: {limit}",
                     "Tried to allocate {requested} on", "Tried to allocate {requested}"},
          .complete = complete_mps};
}

}  // namespace memreplay
