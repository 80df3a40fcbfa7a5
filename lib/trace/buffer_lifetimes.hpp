#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
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

/// Makes events in the order of time of buffers that have at least these fields, and fills the
/// columns of ids and, where there are any, of tags.
template <typename Lifetime>
void add_lifetimes(std::vector<Lifetime>& buffers, TraceBuilder& builder) {
  std::vector<std::tuple<std::int64_t, Op, std::size_t>> moments;
  moments.reserve(buffers.size() * 2);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    moments.emplace_back(buffers[i].lower, Op::allocate, i);
    moments.emplace_back(buffers[i].upper, Op::free, i);
  }
  // Frees first, so that a buffer may take the place of one that ends.
  std::ranges::sort(moments, {}, [](const auto& moment) {
    const auto& [time, op, row] = moment;
    return std::tuple(time, op == Op::allocate, row);
  });
  builder.reserve(moments.size());
  const bool tagged = std::ranges::any_of(buffers, [](const auto& b) { return b.tag != 0; });
  for (const auto& [time, op, row] : moments) {
    Lifetime& buffer = buffers[row];
    const bool begins = op == Op::allocate;
    if (begins) buffer.slot = builder.take_slot();
    if (!begins) builder.return_slot(buffer.slot);
    builder.add(op, builder.lane(0, {}), buffer.slot, buffer.size, begins ? buffer.align_log2 : 0);
    builder.trace().ids.push_back(buffer.id);
    if (tagged) builder.trace().tags.push_back(buffer.tag);
  }
}

}  // namespace memreplay
