#include "trace/torch/unstated_settings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace memreplay {
namespace {

constexpr Bytes kMostPadding = 4096;
constexpr Bytes kUsualPadding = 32;  // torch_npu's

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

std::optional<std::uint64_t> number_in(std::string_view conf, std::string_view key) {
  const std::size_t at = conf.rfind(key);
  if (at == conf.npos) return std::nullopt;
  const std::size_t digits = conf.find_first_of("0123456789", at + key.size());
  if (digits == conf.npos) return std::nullopt;
  std::uint64_t value = 0;
  std::from_chars(conf.data() + digits, conf.data() + conf.size(), value);
  return value;
}

}  // namespace

void find_unstated_settings(TorchSnapshot& snapshot) {
  RecordedSettings& settings = snapshot.settings;
  find_request_padding(snapshot);
  const auto kibibytes = number_in(settings.conf, "base_addr_aligned_kb");
  if (kibibytes && *kibibytes <= 16) settings.large_alignment = *kibibytes * kKiB;
  if (settings.expandable_segments) return;
  const auto maps = [](const std::vector<TorchEntry>& entries) {
    return std::ranges::find(entries, TorchAction::segment_map, &TorchEntry::action) !=
           entries.end();
  };
  if (std::ranges::any_of(snapshot.segments, &TorchSegment::expandable) ||
      std::ranges::any_of(snapshot.device_traces, maps)) {
    settings.expandable_segments = true;
  }
}

Bytes large_segment_size(const RecordedSettings& settings) {
  const std::uint64_t megabytes = number_in(settings.conf, "large_segment_size_mb").value_or(0);
  return megabytes == 0 || megabytes > UINT64_MAX / kMiB ? torch::kLargeBuffer : megabytes * kMiB;
}

void find_request_padding(TorchSnapshot& snapshot) {
  RecordedSettings& settings = snapshot.settings;
  const auto blocks = tight_blocks(snapshot.segments);
  const auto roundup = settings.roundup_power2_divisions.value_or(torch::RoundupTable{});
  // The larger the padding, the larger every block: those that explain them follow each other.
  Bytes least = 0;
  while (least <= kMostPadding && !explains(least, blocks, roundup)) ++least;
  if (least == 0 || least > kMostPadding) return;
  Bytes most = least;
  while (most < kMostPadding && explains(most + 1, blocks, roundup)) ++most;
  const Bytes power = std::bit_ceil(least);
  settings.request_padding = least <= kUsualPadding && kUsualPadding <= most ? kUsualPadding
                             : power <= most                                 ? power
                                                                             : least;
  settings.request_padding_range = {least, most};
}

std::vector<Bytes> possible_paddings(const MemoryState& end, const torch::RoundupTable& roundup) {
  const auto blocks = tight_blocks(end.segments);
  std::vector<Bytes> found;
  for (Bytes power = 1; power <= kMostPadding; power *= 2) {
    if (explains(power, blocks, roundup)) found.push_back(power);
  }
  const auto usual = std::ranges::find(found, kUsualPadding);
  if (usual != found.end()) std::rotate(found.begin(), usual, usual + 1);
  return found;
}

}  // namespace memreplay
