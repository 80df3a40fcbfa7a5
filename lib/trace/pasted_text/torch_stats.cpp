#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {

// torch/csrc/cuda/Module.cpp and torch/cuda/memory.py, memory_stats(): a dictionary, its items, or
// lines of key and value; its keys since 1.4, requested_bytes since 2.0.
MessageKind torch_stats_message() {
  return {
      .name = "torch-stats",
      .detail = "torch.cuda.memory_stats()",
      .starts = {"active_bytes.all.current{~}{active:B}", "allocated_bytes.all.current{~}{live:B}",
                 "allocated_bytes.all.peak{~}{live_peak:B}",
                 "requested_bytes.all.current{~}{live_requested:B}",
                 "reserved_bytes.all.current{~}{reserved:B}",
                 "reserved_bytes.all.peak{~}{reserved_peak:B}",
                 "inactive_split_bytes.all.current{~}{not_releasable:B}",
                 "allocation.all.current{~}{live_blocks}", "segment.all.current{~}{segments}",
                 "num_alloc_retries{~}{retries}", "num_ooms{~}{ooms}"},
      .join = add_missing};
}

}  // namespace memreplay
