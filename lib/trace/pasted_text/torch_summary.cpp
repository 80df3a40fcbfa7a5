#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

// torch/cuda/memory.py, memory_summary() since 1.4. Up to 1.12 its sizes are in KB, MB and GB,
// which mean powers of 1,024 there too.
MessageKind torch_summary_message() {
  return {
      .name = "torch-summary",
      .detail = "a table of torch.cuda.memory_summary()",
      .starts = {"memory summary, device ID {gpu}", "CUDA OOMs: {ooms}", "Allocated memory |"},
      .fields = {"cudaMalloc retries: {retries}", "Allocated memory | {live} | {live_peak} |",
                 "Allocated memory | {live} |", "Active memory | {active} |",
                 "Requested memory | {live_requested} |",
                 "GPU reserved memory | {reserved} | {reserved_peak} |",
                 "GPU reserved memory | {reserved} |", "Non-releasable memory | {not_releasable} |",
                 "Allocations | {live_blocks} |", "GPU reserved segments | {segments} |"},
      .join = add_missing};
}

}  // namespace memreplay
