#include <tuple>

#include "core/text.hpp"
#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

void note_lacking(OomMessage& message, const MessageSpan&) {
  message[Figure::lacking] =
      difference_of(message[Figure::requested], message[Figure::device_free]);
}

// "Alloc type FlatData: 1 allocations, 6442450944 bytes", for each type; some may be cut off.
void complete_faiss(OomMessage& message, const MessageSpan& span) {
  static const Pattern kType = "Alloc type {word}: {number} allocations, {size:B} bytes";
  for (auto match = span.find(kType); match; match = kType.find(span.packed, match->end, span.to)) {
    const auto& [name, count, size] =
        std::tie(match->values[0], match->values[1], match->values[2]);
    if (size.overflows || size.size.bytes == 0) continue;
    std::string& held = message[OomWord::buffer];
    held +=
        (held.empty() ? "" : ", ") + human_size(size.size.bytes) + " of " + std::string(name.word);
  }
}

}  // namespace

// faiss/gpu/StandardGpuResources.cpp since 1.7.
MessageKind faiss_message() {
  return {.name = "faiss",
          .detail = "FAISS's error",
          .starts = {"Failed to cudaMalloc {requested:B} bytes on device {gpu}",
                     "failed to cudaMalloc {requested:B} bytes on device {gpu}",
                     "ailed to cudaMalloc {requested:B} bytes"},
          .complete = complete_faiss};
}

// XGBoost's device_helpers.cuh and device_vector.cu, 1.1 to 3; its GB are of 2^30 bytes.
MessageKind xgboost_message() {
  return {.name = "xgboost",
          .detail = "XGBoost's error",
          .starts = {"Memory allocation error on worker {number}:"},
          .fields = {"Free memory: {device_free}", "Requested memory: {requested}"},
          .complete = note_lacking};
}

// TensorFlow's gpu_cudamallocasync_allocator.cc since 2.5.
MessageKind tf_async_message() {
  return {.name = "tf-async",
          .detail = "TensorFlow's message of cudaMallocAsync",
          .starts = {"cuMemAllocAsync failed to allocate {requested:B} bytes",
                     "cuMemAllocFromPoolAsync failed to allocate {requested:B} bytes"},
          .fields = {"Free memory/Total memory: {device_free:B}/{device:B}"}};
}

// Triton's OutOfResources: shared memory of a multiprocessor, none of the device's.
MessageKind triton_message() {
  return {
      .name = "triton",
      .detail = "Triton's error",
      .starts = {"out of resource: shared memory, Required: {needed:B}, Hardware limit: {limit:B}",
                 "out of resource: shared memory Required: {needed:B} Hardware limit:{limit:B}"}};
}

// torch-directml; CUDA.jl's pool.jl since 3.
MessageKind other_pool_message() {
  return {.name = "other-pool",
          .detail = "the message of an allocator",
          .starts = {"Could not allocate tensor with {requested:B} bytes. There is not enough GPU",
                     "Out of GPU memory trying to allocate {requested}"},
          .fields = {"Effective GPU memory usage: {*}({live}/{device})"}};
}

}  // namespace memreplay
