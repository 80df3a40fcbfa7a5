#include "report/parts/edits.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {

std::string edit_phrase(const EditFacts& edit) {
  const std::string blocks =
      fmt::format("{} ({})", counted(edit.blocks, "block"), human_size(edit.bytes));
  if (edit.recomputed_requests > 0) {
    return fmt::format("{} frees {} early and computes {} again, in {}", edit.edit, blocks,
                       human_size(edit.recomputed_bytes),
                       counted(edit.recomputed_requests, "request"));
  }
  if (edit.moved_bytes > 0) {
    return fmt::format(
        "{} moves {} out and in again, at least {} there at once{}", edit.edit, blocks,
        human_size(edit.other_memory_peak),
        edit.moving_seconds > 0 ? fmt::format(", in {:.3g} s", edit.moving_seconds) : "");
  }
  return fmt::format("{} changes {}", edit.edit, blocks);
}

}  // namespace memreplay
