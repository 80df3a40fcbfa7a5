#include <algorithm>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

// The total of the old wording has the request in it.
void complete_cupy(OomMessage& message, const MessageSpan& span) {
  static const Pattern kTotal = "(total {size}";
  const auto total = span.find(kTotal);
  if (total)
    message[Figure::live] = difference_of(total->values[0].size, message[Figure::requested]);
}

void complete_rmm(OomMessage& message, const MessageSpan& span) {
  static const Pattern kPool = "pool size exceeded";
  static const Pattern kLimit = "Exceeded memory limit";
  static const Pattern kDriver = "CUDA error";
  if (span.says(kPool) || span.says(kLimit)) message[OomWord::type] = "pool";
  if (span.says(kDriver)) message[OomWord::call] = "cudaMalloc";
}

void complete_paddle(OomMessage& message, const MessageSpan&) {
  message[Figure::lacking] =
      difference_of(message[Figure::requested], message[Figure::device_free]);
  message[OomWord::type] = "device";
}

void complete_report(OomMessage& message, const MessageSpan& span) {
  static const Pattern kNow = "MA {live} Max_MA";
  constexpr std::size_t kBefore = 20;
  const std::size_t from = span.from - std::min(span.from, kBefore);
  if (const auto now = kNow.find(span.packed, from, span.from)) kNow.fill(*now, message);
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

// RMM's error.hpp, cuda_memory_resource.hpp and pool_memory_resource.hpp: without a size up
// to 24.06; its pool's log line, "Maximum pool size exceeded" with sizes since 24.12.
MessageKind rmm_pool_message() {
  return {.name = "rmm",
          .detail = "RMM's error",
          .starts = {"std::bad_alloc: out_of_memory", "std::bad_alloc: CUDA error at",
                     "std::bad_alloc: RMM failure at", "[Upstream {requested}][FAILURE",
                     "CUDA error (failed to allocate {requested})", "Maximum pool size exceeded",
                     "Exceeded memory limit (failed to allocate {requested})",
                     "maximum pool size exceeded"},
          .fields = {"(failed to allocate {requested})",
                     "current/max/try size = {reserved}, {limit}, {size}"},
          .complete = complete_rmm,
          .join = add_missing};
}

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

// Megatron-LM's training/utils.py, report_memory(): MB of 2^20 bytes, cached for reserved up
// to 2.0; DeepSpeed's runtime/utils.py, see_memory_usage(): GB of 2^30 bytes.
MessageKind megatron_message() {
  return {.name = "megatron",
          .detail = "a line of Megatron's or DeepSpeed's memory report",
          .starts = {"memory (MB) | allocated: {live:MiB}", "Max_MA {live_peak} CA {reserved}"},
          .fields = {"| max allocated: {live_peak:MiB}", "| reserved: {reserved:MiB}",
                     "| max reserved: {reserved_peak:MiB}", "| cached: {reserved:MiB}",
                     "| max cached: {reserved_peak:MiB}", "Max_CA {reserved_peak}"},
          .complete = complete_report,
          .join = [](OomMessage&, const OomMessage&) { return false; },  // lines in a row
          .is_state = true};
}

}  // namespace memreplay
