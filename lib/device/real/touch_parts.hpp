#pragma once

#include <cstdint>

#include "device/real/touch_pattern.hpp"

/// Which bytes of a range are touched, on every device: cut into words that the threads of a kernel
/// take by their number.
namespace memreplay {

struct TouchedRange {
  std::uint64_t from;
  std::uint64_t to;  ///< above from
  bool all;          ///< Touch::all, not Touch::edges
};

/// Bytes of one word.
struct TouchPart {
  std::uint64_t from;
  std::uint64_t to;
};

MEMREPLAY_ANYWHERE constexpr std::uint64_t round_down_to(std::uint64_t n, std::uint64_t unit) {
  return n / unit * unit;
}

MEMREPLAY_ANYWHERE constexpr std::uint64_t round_up_to(std::uint64_t n, std::uint64_t unit) {
  return round_down_to(n + unit - 1, unit);
}

/// Words of the range that are touched; with edges the first, the last, and those that begin a
/// stride.
MEMREPLAY_ANYWHERE constexpr std::uint64_t touch_part_count(TouchedRange range) {
  if (range.all) return (range.to - 1) / kTouchWord - range.from / kTouchWord + 1;
  const std::uint64_t stride = round_up_to(range.from, kTouchStride);
  return 2 + (stride < range.to ? (range.to - 1 - stride) / kTouchStride + 1 : 0);
}

MEMREPLAY_ANYWHERE constexpr TouchPart touch_part(TouchedRange range, std::uint64_t index) {
  std::uint64_t word = round_down_to(range.from, kTouchWord);
  if (range.all) {
    word += index * kTouchWord;
  } else if (index == 1) {
    word = round_down_to(range.to - 1, kTouchWord);
  } else if (index > 1) {
    word = round_up_to(range.from, kTouchStride) + (index - 2) * kTouchStride;
  }
  const std::uint64_t end = word + kTouchWord;
  return {word < range.from ? range.from : word, end > range.to ? range.to : end};
}

MEMREPLAY_ANYWHERE inline void fill_part(TouchPart part, std::uint64_t tag) {
  if (part.to - part.from == kTouchWord) {
    *reinterpret_cast<std::uint64_t*>(part.from) = touch_word(tag, part.from);
    return;
  }
  for (std::uint64_t at = part.from; at < part.to; ++at) {
    *reinterpret_cast<std::uint8_t*>(at) = touch_byte(tag, at);
  }
}

/// The first address of the part that differs; its end when none does.
MEMREPLAY_ANYWHERE inline std::uint64_t first_difference(TouchPart part, std::uint64_t tag) {
  if (part.to - part.from == kTouchWord &&
      *reinterpret_cast<const std::uint64_t*>(part.from) == touch_word(tag, part.from)) {
    return part.to;
  }
  std::uint64_t at = part.from;
  while (at < part.to && *reinterpret_cast<const std::uint8_t*>(at) == touch_byte(tag, at)) ++at;
  return at;
}

}  // namespace memreplay
