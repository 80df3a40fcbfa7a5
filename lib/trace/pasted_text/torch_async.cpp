#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

// What is neither free nor allocated lies in the driver's pool, or with others. A limit beyond any
// device is none.
void complete_async(OomMessage& message, const MessageSpan&) {
  message.overflows.clear();
  message[OomWord::backend] = "CUDA";
  message[Figure::outside] = difference_of(
      message[Figure::device], sum_of(message[Figure::live], message[Figure::device_free]));
}

}  // namespace

// c10/cuda/CUDAMallocAsyncAllocator.cpp, since 1.12.
MessageKind torch_async_message() {
  return {.name = "torch-async",
          .detail = "the message of PyTorch's cudaMallocAsync back end",
          .starts = {"Allocation on device {gpu} would exceed allowed memory",
                     "would exceed allowed memory. (out of memory)",
                     "OutOfMemoryError: Allocation on device",
                     "Exception during processing !!! Allocation on device",
                     "Currently allocated : {live} Requested : {requested}"},
          .fields = {"Currently allocated : {live}", "Requested : {requested}",
                     "Device limit : {device}", "Free (according to CUDA): {device_free}",
                     "user-supplied memory fraction) : {limit}"},
          .complete = complete_async,
          .join = add_missing};
}

}  // namespace memreplay
