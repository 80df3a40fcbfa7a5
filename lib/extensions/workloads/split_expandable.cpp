#include <array>
#include <vector>

#include "extensions/workloads/workload.hpp"

namespace memreplay {
namespace {

/// PyTorch reserves little under max_split_size_mb or expandable_segments alone, and anew for every
/// round under both: what is too large to be split goes to no segment that grows.
void run_split_expandable(const WorkloadValues& values, Draws& draws, WorkloadEvents& events) {
  const std::array large = {values.size("first"), values.size("second")};
  const Bytes small = values.size("small");
  const std::uint64_t rounds = values.whole("rounds", 1, 100'000'000);
  const Bytes vary = values.size("vary");
  while (!events.full()) {
    std::vector<Slot> kept = {events.allocate(values.size("weights"))};
    for (std::uint64_t round = 0; round < rounds && !events.full(); ++round) {
      std::array<Slot, 2> both{};
      for (std::size_t i = 0; i < 2; ++i) both[i] = events.allocate(large[i] + draws.below(vary));
      kept.push_back(events.allocate(small));
      for (const Slot slot : both) events.free(slot);
    }
    for (const Slot slot : kept) events.free(slot);
  }
}

}  // namespace

WorkloadInfo split_expandable_workload() {
  return {
      .name = "split-expandable",
      .summary =
          "Two large blocks come and go, a small one next to them stays: "
          "max_split_size_mb and expandable_segments fight each other",
      .options = {{"weights", "SIZE", "64MiB", "A block that is live from the beginning."},
                  {"first", "SIZE", "91MiB", "One large block of a round."},
                  {"second", "SIZE", "46592KiB", "The other large block of a round."},
                  {"small", "SIZE", "2MiB", "The small block that stays."},
                  {"vary", "SIZE", "1", "Large ones are larger by less than this, uniform."},
                  {"rounds", "N", "100", "Rounds, after which all is freed and it begins again."}},
      .run = run_split_expandable};
}

}  // namespace memreplay
