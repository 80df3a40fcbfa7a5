#include "extensions/heaps/live_heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

/// As many blocks are told apart; of more, those of one call site are one.
constexpr std::uint64_t kMostBlocksApart = 1 << 20;
constexpr Address kFirstSegment = 1 << 21;

}  // namespace

std::uint32_t LiveHeap::frame(std::string_view place) {
  if (const std::size_t colon = place.find(": "); place.starts_with("0x") && colon != place.npos) {
    place.remove_prefix(colon + 2);
  }
  const std::size_t open = place.rfind(" (");
  if (open == place.npos || !place.ends_with(')')) return frame(place, {}, kNoLine);
  const std::string_view inside = place.substr(open + 2, place.size() - open - 3);
  const std::size_t colon = inside.rfind(':');
  if (inside.starts_with("in ")) return frame(place.substr(0, open), inside.substr(3), kNoLine);
  if (colon == inside.npos) return frame(place, {}, kNoLine);
  // "file.rs:8:5" has a column, too.
  std::string_view file = inside.substr(0, colon), number = inside.substr(colon + 1);
  const std::size_t before = file.rfind(':');
  if (before != file.npos && parse_whole(file.substr(before + 1))) {
    number = file.substr(before + 1);
    file = file.substr(0, before);
  }
  const auto line = parse_whole(number);
  return line ? frame(place.substr(0, open), file, *line) : frame(place, {}, kNoLine);
}

std::uint32_t LiveHeap::frame(std::string_view name, std::string_view file, std::uint64_t line) {
  const Frame frame{texts_.number_of(name), texts_.number_of(file),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(line, kNoLine))};
  const auto next = static_cast<std::uint32_t>(recording_.frames.size());
  const auto [known, is_new] = frames_.try_emplace(frame, next);
  if (is_new) recording_.frames.push_back(frame);
  return known->second;
}

std::uint32_t LiveHeap::stack(std::vector<std::uint32_t> frames) {
  if (frames.empty()) return 0;
  constexpr std::size_t kMany = std::size_t{1} << 22, kDeepestOfMany = 64;
  frames.resize(std::min(frames.size(), kept_frames_ < kMany ? kDeepest : kDeepestOfMany));
  const auto next = static_cast<std::uint32_t>(recording_.stacks.size());
  const auto [known, is_new] = stacks_.try_emplace(std::move(frames), next);
  if (!is_new) return known->second;
  kept_frames_ += known->first.size();
  recording_.stacks.push_back(known->first);
  return known->second;
}

void LiveHeap::add(int device, Bytes bytes, std::uint64_t blocks, std::uint32_t stack) {
  blocks = std::clamp<std::uint64_t>(blocks, 1, std::max<Bytes>(bytes, 1));
  told_ += std::min(blocks, UINT64_MAX - told_);
  if (blocks > kMostBlocksApart - std::min(blocks_, kMostBlocksApart)) blocks = 1;
  blocks_ += blocks;
  for (; blocks > 0; --blocks) {
    const Bytes share = bytes / blocks;
    append(device, share, BlockState::allocated, stack);
    bytes -= share;
  }
}

void LiveHeap::append(int device, Bytes bytes, BlockState state, std::uint32_t stack) {
  if (bytes == 0) return;
  std::vector<SegmentInfo>& segments = states_[device].segments;
  if (!std::exchange(is_open_[device], true)) {
    const Address after = segments.empty() ? 0 : segments.back().address + segments.back().size;
    segments.push_back({.address = round_up(after + kFirstSegment, kFirstSegment)});
  }
  SegmentInfo& segment = segments.back();
  if (bytes >= kMostBytes || segment.size >= kMostBytes - bytes ||
      segment.address >= kBeyondDevices - bytes) {
    throw InputError(recording_.path, "", "holds more than 1 EiB of live memory");
  }
  const bool is_live = state == BlockState::allocated;
  segment.blocks.push_back({.address = segment.address + segment.size,
                            .size = bytes,
                            .requested = is_live ? bytes : 0,
                            .state = state,
                            .slot = is_live ? slots_[device]++ : kNoSlot,
                            .stack = stack});
  segment.size += bytes;
}

void LiveHeap::finish(int device) {
  if (states_.empty()) states_[device];
  if (told_ > blocks_) {
    recording_.lacks.push_back(fmt::format(
        "some of its {} blocks separately (from the {}th on, all of a call site are one)",
        human_count(told_), human_count(kMostBlocksApart)));
  }
  for (auto& [gpu, state] : states_) {
    TraceBuilder builder(gpu);
    builder.trace().start = std::move(state);
    builder.trace().slot_count = slots_[gpu];
    Trace& trace = recording_.traces.emplace_back(builder.finish());
    Coverage& coverage = trace.coverage;
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        coverage.preexisting_blocks += block.slot != kNoSlot ? 1 : 0;
        coverage.preexisting_bytes += block.requested;
      }
    }
    coverage.starts_empty = coverage.preexisting_blocks == 0;
    coverage.complete = false;
  }
}

}  // namespace memreplay
