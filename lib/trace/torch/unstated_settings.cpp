#include "trace/torch/unstated_settings.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/torch_sizes.hpp"
#include "trace/torch/request_padding.hpp"

namespace memreplay {
namespace {

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

}  // namespace memreplay
