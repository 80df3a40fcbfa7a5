#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_rmm(OomMessage& message, const MessageSpan& span) {
  static const Pattern kPool = "aximum pool size exceeded";
  static const Pattern kLimit = "Exceeded memory limit";
  static const Pattern kDriver = "CUDA error";
  if (span.says(kPool) || span.says(kLimit)) message[OomWord::type] = "pool";
  if (span.says(kDriver)) message[OomWord::call] = "cudaMalloc";
}

}  // namespace

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

}  // namespace memreplay
