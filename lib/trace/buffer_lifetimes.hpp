#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/trace_builder.hpp"

namespace memreplay {

/// A buffer is live in [lower, upper), which is not empty.
struct BufferLifetime {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  Bytes size = 0;
  std::uint64_t id = 0;
  std::uint32_t tag = 0;
  std::uint8_t align_log2 = 0;
  Slot slot = kNoSlot;
};

/// Buffers by one of their times; of equal ones the first one first.
template <typename Lifetime>
std::vector<std::pair<std::int64_t, std::size_t>> in_order_of(
    std::int64_t Lifetime::*time, const std::vector<Lifetime>& buffers) {
  std::vector<std::pair<std::int64_t, std::size_t>> moments;
  moments.reserve(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) moments.emplace_back(buffers[i].*time, i);
  if (!std::ranges::is_sorted(moments)) std::ranges::sort(moments);
  return moments;
}

/// Makes events in the order of time, and fills the columns of ids and, where there are any, of
/// tags. Frees come first, so that a buffer may take the place of one that ends.
template <typename Lifetime>
void add_lifetimes(std::vector<Lifetime>& buffers, TraceBuilder& builder) {
  const bool tagged = std::ranges::any_of(buffers, [](const auto& b) { return b.tag != 0; });
  const auto add = [&](Op op, Lifetime& buffer) {
    const bool begins = op == Op::allocate;
    if (begins) buffer.slot = builder.take_slot();
    if (!begins) builder.return_slot(buffer.slot);
    builder.add(op, builder.lane(0, {}), buffer.slot, buffer.size, begins ? buffer.align_log2 : 0);
    builder.trace().ids.push_back(buffer.id);
    if (tagged) builder.trace().tags.push_back(buffer.tag);
  };
  builder.reserve_exactly(buffers.size() * 2);
  const auto begins = in_order_of(&Lifetime::lower, buffers);
  const auto ends = in_order_of(&Lifetime::upper, buffers);
  auto end = ends.begin();
  for (const auto& [time, row] : begins) {
    for (; end->first <= time; ++end) add(Op::free, buffers[end->second]);
    add(Op::allocate, buffers[row]);
  }
  for (; end != ends.end(); ++end) add(Op::free, buffers[end->second]);
}

}  // namespace memreplay
