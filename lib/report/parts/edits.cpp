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

Json edits_json(const std::vector<EditFacts>& edits) {
  Json found = Json::array();
  for (const EditFacts& edit : edits) {
    found.push_back({{"edit", edit.edit},
                     {"blocks", edit.blocks},
                     {"bytes", edit.bytes},
                     {"recomputed_bytes", edit.recomputed_bytes},
                     {"recomputed_requests", edit.recomputed_requests},
                     {"moved_bytes", edit.moved_bytes},
                     {"moving_seconds", edit.moving_seconds},
                     {"other_memory_peak_bytes", edit.other_memory_peak},
                     {"remarks", edit.remarks}});
  }
  return found;
}

}  // namespace memreplay
