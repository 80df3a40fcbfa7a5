#include "options/streaming.hpp"

#include <algorithm>

#include "output/run_files.hpp"

namespace memreplay {
namespace {

/// So few are read in less time than it takes to read and replay them side by side.
constexpr std::uint64_t kMostInMemory = 1 << 17;

}  // namespace

void leave_in_file(ReadOptions& read) { read.most_in_memory = kMostInMemory; }

bool can_leave_in_file(const RunOptions& options) {
  const Setup& setup = options.setup;
  const auto knows_the_future = [](const StrategySpec& spec) {
    return plan_wish(spec).has_value();
  };
  return setup.scale == 1 && !setup.paced && setup.devices.size() < 2 && !wants_files(options) &&
         options.perfetto.empty() && std::ranges::none_of(options.strategies, knows_the_future);
}

}  // namespace memreplay
