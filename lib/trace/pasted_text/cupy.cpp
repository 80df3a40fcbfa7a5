#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

// The total of the old wording has the request in it.
void complete_cupy(OomMessage& message, const MessageSpan& span) {
  static const Pattern kTotal = "(total {size}";
  const auto total = span.find(kTotal);
  if (total)
    message[Figure::live] = difference_of(total->values[0].size, message[Figure::requested]);
}

}  // namespace

// cupy/cuda/memory.pyx: these words since 6, "to allocate" before; the limit since 7.
MessageKind cupy_message() {
  return {.name = "cupy",
          .detail = "CuPy's OOM message",
          .starts = {"Out of memory allocating {requested} (allocated so far: {live}",
                     "Out of memory allocating {requested} (",
                     "out of memory to allocate {requested} (total"},
          .fields = {"limit set to: {limit}"},
          .complete = complete_cupy};
}

}  // namespace memreplay
