#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace memreplay {

/// Every key and every fixed value of a PyTorch snapshot that a reader looks at. Texts are compared
/// with these once, when they are first seen.
enum class Word : std::uint8_t {
  none,
  // Top level.
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  host_segments,
  host_traces,
  // Segments and blocks.
  device,
  address,
  total_size,
  stream,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  size,
  requested_size,
  state,
  history,
  real_size,
  // Trace entries and frames.
  action,
  addr,
  device_free,
  time_us,
  user_metadata,
  compile_context,
  pool_id,
  internal_metadata,
  forward_frames,
  frames,
  name,
  filename,
  line,
  // Settings and annotations.
  conf,
  conf_of_any,
  conf_of_hip,
  conf_of_npu,
  conf_of_xpu,
  max_split_size,
  garbage_collection_threshold,
  expandable_segments,
  roundup_power2_divisions,
  max_round_threshold,
  graph_capture_record_stream_reuse,
  stage,
  // Actions, in the order of TorchAction.
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  annotate,
  // Other values.
  active_allocated,
  active_pending_free,
  active_awaiting_free,
  inactive,
  small,
  start,
  end,
  count,
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Word::count)> kWordTexts = {
    "",
    "segments",
    "device_traces",
    "allocator_settings",
    "external_annotations",
    "host_segments",
    "host_traces",
    "device",
    "address",
    "total_size",
    "stream",
    "segment_type",
    "segment_pool_id",
    "is_expandable",
    "blocks",
    "size",
    "requested_size",
    "state",
    "history",
    "real_size",
    "action",
    "addr",
    "device_free",
    "time_us",
    "user_metadata",
    "compile_context",
    "pool_id",
    "internal_metadata",
    "forward_frames",
    "frames",
    "name",
    "filename",
    "line",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_NPU_ALLOC_CONF",
    "PYTORCH_XPU_ALLOC_CONF",
    "max_split_size",
    "garbage_collection_threshold",
    "expandable_segments",
    "roundup_power2_divisions",
    "max_round_threshold",
    "graph_capture_record_stream_reuse",
    "stage",
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
    "annotate",
    "active_allocated",
    "active_pending_free",
    "active_awaiting_free",
    "inactive",
    "small",
    "START",
    "END"};

// A set of words is one 64-bit number.
static_assert(kWordTexts.size() <= 64 && !kWordTexts.back().empty());

constexpr std::string_view text_of(Word word) { return kWordTexts[static_cast<std::size_t>(word)]; }
constexpr std::uint64_t bit_of(Word word) {
  return std::uint64_t{1} << static_cast<unsigned>(word);
}

namespace detail {

constexpr std::size_t word_hash(std::string_view text) {
  const auto at = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(text[i])}; };
  return (text.size() * 37 + at(0) * 5 + at(text.size() / 2) * 11 + at(text.size() - 1)) & 255;
}

constexpr std::array<Word, 256> word_table() {
  std::array<Word, 256> table{};
  for (std::size_t i = 1; i < kWordTexts.size(); ++i) {
    std::size_t slot = word_hash(kWordTexts[i]);
    while (table[slot] != Word::none) slot = (slot + 1) & 255;
    table[slot] = static_cast<Word>(i);
  }
  return table;
}

inline constexpr auto kWordTable = word_table();

}  // namespace detail

constexpr Word word_of(std::string_view text) {
  if (text.empty()) return Word::none;
  for (std::size_t slot = detail::word_hash(text);; slot = (slot + 1) & 255) {
    const Word word = detail::kWordTable[slot];
    if (word == Word::none || text_of(word) == text) return word;
  }
}

static_assert(word_of("annotate") == Word::annotate && word_of("END") == Word::end);
static_assert(word_of("large") == Word::none);

}  // namespace memreplay
