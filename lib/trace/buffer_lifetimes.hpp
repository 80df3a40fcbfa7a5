#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "trace/reserve.hpp"
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

/// A time of a buffer, and its row.
struct TimedRow {
  std::int64_t time = 0;
  std::size_t row = 0;
};

/// By time; of equal ones the first one first. Digit by digit, the last one first.
inline void sort_by_time(std::vector<TimedRow>& rows) {
  constexpr unsigned kBits = 11;
  if (std::ranges::is_sorted(rows, {}, &TimedRow::time)) return;
  const auto [first, last] = std::ranges::minmax(rows, {}, &TimedRow::time);
  const auto since_first = [from = static_cast<std::uint64_t>(first.time)](const TimedRow& row) {
    return static_cast<std::uint64_t>(row.time) - from;
  };
  std::vector<TimedRow> sorted(rows.size());
  for (unsigned shift = 0; shift < 64 && since_first(last) >> shift != 0; shift += kBits) {
    const auto digit = [&](const TimedRow& row) {
      return (since_first(row) >> shift) % (1 << kBits);
    };
    std::array<std::size_t, 1 << kBits> place = {};
    for (const TimedRow& row : rows) ++place[digit(row)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const TimedRow& row : rows) sorted[place[digit(row)]++] = row;
    std::swap(rows, sorted);
  }
}

template <typename Lifetime>
std::vector<TimedRow> in_order_of(std::int64_t Lifetime::*time,
                                  const std::vector<Lifetime>& buffers) {
  std::vector<TimedRow> rows;
  reserve_exactly(rows, buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) rows.push_back({buffers[i].*time, i});
  sort_by_time(rows);
  return rows;
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
  reserve_exactly(builder.trace().ids, buffers.size() * 2);
  const auto begins = in_order_of(&Lifetime::lower, buffers);
  const auto ends = in_order_of(&Lifetime::upper, buffers);
  // In the order of time they lie anywhere.
  constexpr std::ptrdiff_t kAhead = 16;
  const auto take = [&](Op op, const std::vector<TimedRow>& rows, auto& at) {
    if (rows.end() - at > kAhead) __builtin_prefetch(&buffers[at[kAhead].row], 1);
    add(op, buffers[at->row]);
    ++at;
  };
  auto begin = begins.begin();
  auto end = ends.begin();
  while (begin != begins.end()) {
    while (end->time <= begin->time) take(Op::free, ends, end);
    take(Op::allocate, begins, begin);
  }
  while (end != ends.end()) take(Op::free, ends, end);
}

}  // namespace memreplay
