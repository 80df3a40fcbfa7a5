#include "extensions/lifetimes/buffer_lifetimes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "trace/pages.hpp"

namespace memreplay {
namespace {

/// A time since the first of all, and the buffer whose it is.
struct LongTime {
  std::uint64_t since = 0;
  std::uint64_t buffer = 0;
};
std::uint64_t time_of(const LongTime& row) { return row.since; }
std::size_t buffer_of(const LongTime& row) { return row.buffer; }

/// Time and buffer in one word, where both are short: nearly always.
using ShortTime = std::uint64_t;
constexpr unsigned kHalf = 32;
std::uint64_t time_of(ShortTime row) { return row >> kHalf; }
std::size_t buffer_of(ShortTime row) { return static_cast<std::uint32_t>(row); }

/// By time; of equal ones the first one first. Digit by digit, the last one first.
template <typename Row>
void sort_by_time(std::vector<Row>& rows) {
  constexpr unsigned kBits = 11;
  const auto time = [](const Row& row) { return time_of(row); };
  if (std::ranges::is_sorted(rows, {}, time)) return;
  const std::uint64_t last = time_of(std::ranges::max(rows, {}, time));
  std::vector<Row> sorted;
  reserve_exactly(sorted, rows.size());
  sorted.resize(rows.size());
  for (unsigned shift = 0; shift < 64 && last >> shift != 0; shift += kBits) {
    const auto digit = [&](const Row& row) { return (time_of(row) >> shift) % (1 << kBits); };
    std::array<std::size_t, 1 << kBits> place = {};
    for (const Row& row : rows) ++place[digit(row)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const Row& row : rows) sorted[place[digit(row)]++] = row;
    std::swap(rows, sorted);
  }
}

}  // namespace

void BufferLifetimes::reserve(std::size_t count) {
  reserve_at_most(begins_, count);
  reserve_at_most(ends_, count);
  reserve_at_most(buffers_, count);
}

template <typename Rows>
void BufferLifetimes::add_in_order(const Rows& begins, const Rows& ends, TraceBuilder& builder,
                                   EventOutlet& outlet) {
  const bool tagged = std::ranges::any_of(buffers_, [](const auto& b) { return b.tag != 0; });
  const std::uint16_t lane = buffers_.empty() ? 0 : builder.lane(0, {});
  const std::size_t room = outlet.room(buffers_.size() * 2);
  builder.reserve_exactly(room);
  reserve_exactly(builder.trace().ids, room);
  const auto take = [&](Op op, const Rows& rows, std::size_t& at) {
    constexpr std::size_t kAhead = 16;
    if (at + kAhead < rows.size()) {
      __builtin_prefetch(&buffers_[buffer_of(rows[at + kAhead])], 1);
    }
    LivingBuffer& buffer = buffers_[buffer_of(rows[at++])];
    const bool begins_here = op == Op::allocate;
    if (begins_here) buffer.slot = builder.take_slot();
    if (!begins_here) builder.return_slot(buffer.slot);
    builder.add(op, lane, buffer.slot, buffer.size, begins_here ? buffer.align_log2 : 0);
    builder.fill<&Trace::ids>(buffer.id);
    if (tagged) builder.fill<&Trace::tags>(buffer.tag);
    outlet.filled(builder);
  };
  std::size_t begun = 0;
  std::size_t ended = 0;
  while (begun < begins.size()) {
    while (time_of(ends[ended]) <= time_of(begins[begun])) take(Op::free, ends, ended);
    take(Op::allocate, begins, begun);
  }
  while (ended < ends.size()) take(Op::free, ends, ended);
  outlet.close(builder);
}

void BufferLifetimes::add_to(TraceBuilder& builder, EventOutlet& outlet) {
  const auto as_signed = [](std::uint64_t time) { return static_cast<std::int64_t>(time); };
  std::uint64_t first = 0;
  std::uint64_t longest = 0;  // fits, where it is taken without a sign
  if (!buffers_.empty()) {
    first = std::ranges::min(begins_, {}, as_signed);
    longest = std::ranges::max(ends_, {}, as_signed) - first;
  }
  const std::uint64_t buffers = buffers_.size();
  if (longest >> kHalf == 0 && buffers >> kHalf == 0) {
    for (auto* const times : {&begins_, &ends_}) {
      std::uint64_t buffer = 0;
      for (std::uint64_t& time : *times) time = (time - first) << kHalf | buffer++;
      sort_by_time(*times);
    }
    return add_in_order(begins_, ends_, builder, outlet);
  }
  const auto in_order = [first](const std::vector<std::uint64_t>& times) {
    std::vector<LongTime> rows;
    reserve_exactly(rows, times.size());
    for (const std::uint64_t time : times) rows.push_back({time - first, rows.size()});
    sort_by_time(rows);
    return rows;
  };
  add_in_order(in_order(begins_), in_order(ends_), builder, outlet);
}

}  // namespace memreplay
