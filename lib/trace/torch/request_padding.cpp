#include "trace/torch/request_padding.hpp"

#include <algorithm>
#include <vector>

namespace memreplay {
namespace {

constexpr Bytes kMostPadding = 4096;

struct SizedRequest {
  Bytes requested = 0;
  Bytes size = 0;

  friend auto operator<=>(const SizedRequest&, const SizedRequest&) = default;
};

// Blocks that hold nothing beside one request: those of plain large segments may keep a rest.
template <typename Segments>
std::vector<SizedRequest> tight_blocks(const Segments& segments) {
  std::vector<SizedRequest> found;
  for (const auto& segment : segments) {
    if (!segment.small_pool && !segment.expandable) continue;
    for (const auto& block : segment.blocks) {
      if (block.state == BlockState::free || block.requested == 0) continue;
      found.push_back({block.requested, block.size});
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool explains(Bytes padding, const std::vector<SizedRequest>& blocks,
              const torch::RoundupTable& roundup) {
  return std::ranges::all_of(blocks, [&](const SizedRequest& block) {
    return torch::round_size(block.requested + padding, roundup) == block.size;
  });
}

}  // namespace

Bytes request_padding(const TorchSnapshot& snapshot) {
  const auto blocks = tight_blocks(snapshot.segments);
  const auto roundup = snapshot.settings.roundup_power2_divisions.value_or(torch::RoundupTable{});
  if (explains(0, blocks, roundup)) return 0;
  for (Bytes power = 1; power <= kMostPadding; power *= 2) {
    if (explains(power, blocks, roundup)) return power;
  }
  for (Bytes padding = 1; padding <= kMostPadding; ++padding) {
    if (explains(padding, blocks, roundup)) return padding;
  }
  return 0;
}

std::vector<Bytes> possible_paddings(const MemoryState& end, const torch::RoundupTable& roundup) {
  const auto blocks = tight_blocks(end.segments);
  std::vector<Bytes> found;
  for (Bytes power = 1; power <= kMostPadding; power *= 2) {
    if (explains(power, blocks, roundup)) found.push_back(power);
  }
  return found;
}

}  // namespace memreplay
