#include <algorithm>
#include <vector>

#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

/// Blocks in a row, every other one freed, then larger ones: half is free, and no hole is enough.
void run_fragmentation(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  const std::uint64_t blocks = values.whole("blocks", 2, 100'000'000);
  const Bytes size = values.size("size");
  const auto vary = static_cast<Bytes>(values.number("vary", 0, 1) * static_cast<double>(size));
  const std::uint64_t factor = values.whole("factor", 2, 1'000'000);
  while (!events.full()) {
    std::vector<Slot> kept;
    std::vector<Slot> freed;
    Bytes room = 0;
    for (std::uint64_t i = 0; i < blocks && !events.full(); ++i) {
      const Bytes one = size - draws.below(vary + 1);
      (i % 2 == 0 ? freed : kept).push_back(events.allocate(one));
      if (i % 2 == 0) room += one;
    }
    for (const Slot slot : freed) events.free(slot);
    for (; room >= size * factor; room -= size * factor) {
      kept.push_back(events.allocate(size * factor));
    }
    for (const Slot slot : kept) events.free(slot);
  }
}

}  // namespace

WorkloadInfo fragmentation_workload() {
  return {.name = "fragmentation",
          .summary = "Many blocks, every other one freed, then larger ones; all freed; repeated",
          .options = {{"blocks", "N", "1000", "Blocks of the first kind."},
                      {"size", "SIZE", "4MiB", "Their size."},
                      {"vary", "SHARE", "0",
                       "Blocks are smaller than that by up to this share, uniform."},
                      {"factor", "N", "4",
                       "The larger blocks have this many times the size; together they are as "
                       "large as what was freed."}},
          .run = run_fragmentation};
}

}  // namespace memreplay
