#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

// The largest buffer at the peak, and the line of the program that made it.
void complete_xla(OomMessage& message, const MessageSpan& span) {
  static const Pattern kFirst = "Buffer 1: Size: {largest_buffer}";
  static const Pattern kSecond = "Buffer 2: Size:";
  static const Pattern kSource = "source_file=\"{file}\" source_line={line}";
  static const Pattern kShape = "Shape: {shape}==";
  static const Pattern kHbm = "Hbm usage: {size}, SparseCore Hbm usage {size}";
  if (const auto used = span.find(kHbm)) {
    message[OomWord::type] = "hbm";
    message[Figure::needed] = sum_of(used->values[0].size, used->values[1].size);
    message[Figure::lacking] = difference_of(message[Figure::needed], message[Figure::limit]);
  }
  const auto first = span.find(kFirst);
  if (!first) return;
  kFirst.fill(*first, message);
  const auto second = span.find(kSecond);
  const MessageSpan buffer{span.packed, first->end, second ? second->at : span.to};
  for (const Pattern* pattern : {&kSource, &kShape}) {
    if (const auto match = buffer.find(*pattern)) pattern->fill(*match, message);
  }
}

}  // namespace

// XLA's errors, as JAX and TensorFlow raise them: pjrt and stream_executor, buffer_assignment.cc
// (its peak buffers since 2022), the TPU compiler's.
MessageKind xla_message() {
  return {.name = "xla",
          .detail = "XLA's error",
          .starts = {"Out of memory while trying to allocate {requested}",
                     "Out of memory allocating {requested}.",
                     "Failed to allocate request for {size} ({requested}) on device ordinal {gpu}",
                     "BufferAssignment OOM Debugging", "BufferAssignment stats:",
                     "Ran out of memory in memory space {type}. Used {needed} of {limit} hbm",
                     "Attempting to reserve {requested} at the bottom of memory",
                     "Attempting to allocate {requested}. That was not possible",
                     "TPU TensorCore Hbm usage: {size}, SparseCore Hbm usage {size}"},
          .fields = {"total allocation: {needed}", "capacity by {lacking}",
                     "There are {device_free} free", "reserved, and {largest_free} reservable",
                     "exceeding available bytes: {limit}"},
          .complete = complete_xla,
          .join = add_missing};
}

}  // namespace memreplay
