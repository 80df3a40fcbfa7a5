#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "trace/event_outlet.hpp"
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

/// A time of a buffer, since the first of all, and its row.
template <typename Number>
struct TimedRow {
  Number time = 0;
  Number row = 0;
};

/// By time; of equal ones the first one first. Digit by digit, the last one first.
template <typename Number>
void sort_by_time(std::vector<TimedRow<Number>>& rows) {
  constexpr unsigned kBits = 11;
  using Row = TimedRow<Number>;
  if (std::ranges::is_sorted(rows, {}, &Row::time)) return;
  const Number last = std::ranges::max(rows, {}, &Row::time).time;
  std::vector<Row> sorted;
  reserve_exactly(sorted, rows.size());
  sorted.resize(rows.size());
  for (unsigned shift = 0; shift < std::numeric_limits<Number>::digits && last >> shift != 0;
       shift += kBits) {
    const auto digit = [&](const Row& row) { return (row.time >> shift) % (1 << kBits); };
    std::array<std::size_t, 1 << kBits> place = {};
    for (const Row& row : rows) ++place[digit(row)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const Row& row : rows) sorted[place[digit(row)]++] = row;
    std::swap(rows, sorted);
  }
}

template <typename Number, typename Lifetime>
std::vector<TimedRow<Number>> in_order_of(std::int64_t Lifetime::*time, std::int64_t first,
                                          const std::vector<Lifetime>& buffers) {
  std::vector<TimedRow<Number>> rows;
  reserve_exactly(rows, buffers.size());
  for (const Lifetime& buffer : buffers) {
    // The difference of any two fits, where it is taken without a sign.
    const std::uint64_t since =
        static_cast<std::uint64_t>(buffer.*time) - static_cast<std::uint64_t>(first);
    rows.push_back({static_cast<Number>(since), static_cast<Number>(rows.size())});
  }
  sort_by_time(rows);
  return rows;
}

/// As add_lifetimes; Number holds the time from the first to the last, and the number of rows.
template <typename Number, typename Lifetime>
void add_in_order(std::vector<Lifetime>& buffers, std::int64_t first, TraceBuilder& builder,
                  EventOutlet& outlet) {
  const bool tagged = std::ranges::any_of(buffers, [](const auto& b) { return b.tag != 0; });
  const std::uint16_t lane = buffers.empty() ? 0 : builder.lane(0, {});
  const auto add = [&](Op op, Lifetime& buffer) {
    const bool begins = op == Op::allocate;
    if (begins) buffer.slot = builder.take_slot();
    if (!begins) builder.return_slot(buffer.slot);
    builder.add(op, lane, buffer.slot, buffer.size, begins ? buffer.align_log2 : 0);
    builder.trace().ids.push_back(buffer.id);
    if (tagged) builder.trace().tags.push_back(buffer.tag);
    outlet.filled(builder.trace());
  };
  const std::size_t room = outlet.room(buffers.size() * 2);
  builder.reserve_exactly(room);
  reserve_exactly(builder.trace().ids, room);
  const auto begins = in_order_of<Number>(&Lifetime::lower, first, buffers);
  const auto ends = in_order_of<Number>(&Lifetime::upper, first, buffers);
  // In the order of time they lie anywhere.
  constexpr std::ptrdiff_t kAhead = 16;
  const auto take = [&](Op op, const auto& rows, auto& at) {
    if (rows.end() - at > kAhead) {
      const auto* const ahead = reinterpret_cast<const char*>(&buffers[at[kAhead].row]);
      __builtin_prefetch(ahead, 1);
      __builtin_prefetch(ahead + sizeof(Lifetime) - 1, 1);  // may lie on the next line
    }
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
  outlet.close(builder.trace());
}

/// Makes events in the order of time, and fills the columns of ids and, where there are any, of
/// tags. Frees come first, so that a buffer may take the place of one that ends.
template <typename Lifetime>
void add_lifetimes(std::vector<Lifetime>& buffers, TraceBuilder& builder, EventOutlet& outlet) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Lifetime& buffer : buffers) {
    first = std::min(first, buffer.lower);
    last = std::max(last, buffer.upper);
  }
  const std::uint64_t longest =
      static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  constexpr std::uint64_t kShort = std::numeric_limits<std::uint32_t>::max();
  if (longest <= kShort && buffers.size() <= kShort) {
    add_in_order<std::uint32_t>(buffers, first, builder, outlet);
  } else {
    add_in_order<std::uint64_t>(buffers, first, builder, outlet);
  }
}

}  // namespace memreplay
