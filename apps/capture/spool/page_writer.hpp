#pragma once

#include <atomic>
#include <bit>
#include <cstring>

#include "spool/spool_format.hpp"

namespace memreplay::capture {

/// The end of a page where the next entry goes, and what its numbers are differences from.
struct PageEnd {
  std::byte* next = nullptr;
  std::byte* full = nullptr;  ///< from here on there is no room for a time and a call
  std::uint64_t order = 0;
  std::uint64_t sixteenth = 0;  ///< a 16th of an address
  std::int64_t time_ns = 0;
};

/// Numbers of an entry are below this.
inline constexpr std::uint64_t kNumbersEnd = std::uint64_t{1} << 48;
/// What writing an entry of a `Record` may touch, as numbers have zeros after them; after an entry
/// that tells the time.
inline constexpr std::size_t kMostEntryBytes = 27;
inline constexpr std::size_t kMostTimeBytes = 13;

constexpr unsigned code_of(std::uint64_t number) {
  return unsigned{number > 0xff} + unsigned{number > 0xffff} + unsigned{number > 0xff'ffff};
}
constexpr unsigned bytes_of_code(unsigned code) { return 0x6321u >> (4 * code) & 15u; }
constexpr std::uint64_t unsigned_of(std::uint64_t difference) {
  return difference << 1 ^ (difference >> 63 == 0 ? 0 : ~std::uint64_t{0});
}

/// The end of a page that has its order and its time, and nothing after its head.
inline PageEnd end_of_new_page(std::byte* page, std::size_t record_bytes) {
  const auto& head = *reinterpret_cast<const SpoolPageHead*>(page);
  const std::size_t most = kMostTimeBytes + kMostEntryBytes + record_bytes - sizeof(Record);
  return {.next = page + sizeof(SpoolPageHead),
          .full = page + kSpoolPageBytes - most + 1,
          .order = head.order,
          .time_ns = head.time_ns};
}

/// Writes one entry; its head when everything else is there.
class EntryWriter {
 public:
  [[gnu::always_inline]] explicit EntryWriter(PageEnd& end, std::uint64_t order)
      : end_(end), at_(end.next + 1) {
    number(order - end.order, 0);
    end.order = order;
  }
  /// Its code goes to these bits of the head.
  [[gnu::always_inline]] void number(std::uint64_t number, unsigned bits) {
    const unsigned code = code_of(number);
    head_ |= code << bits;
    whole(number, bytes_of_code(code));
  }
  [[gnu::always_inline]] void whole(std::uint64_t number, std::size_t bytes) {
    std::memcpy(at_, &number, sizeof number);
    at_ += bytes;
  }
  [[gnu::always_inline]] void further(const std::byte* bytes, std::size_t count) {
    std::memcpy(at_, bytes, count);
    at_ += count;
  }
  [[gnu::always_inline]] void end(Entry entry) {
    head_ |= static_cast<unsigned>(entry) << 4;
    std::atomic_ref(*reinterpret_cast<std::uint8_t*>(end_.next))
        .store(static_cast<std::uint8_t>(head_), std::memory_order_release);
    end_.next = at_;
  }

 private:
  PageEnd& end_;
  std::byte* at_;
  unsigned head_ = 0;
};

/// Within its caller, which knows the call, one form of entry is left.
template <typename R>
[[gnu::always_inline]] inline void write_entry(PageEnd& end, const R& record) {
  const Call call = call_of(record);
  const std::uint8_t align_log2 = align_log2_of(record);
  const bool is_plain_free = bytes_of(record) == 0 && align_log2 == 0;
  const std::uint64_t sixteenth = record.address / 16;
  const std::uint64_t moved = unsigned_of(sixteenth - end.sixteenth);
  end.sixteenth = sixteenth;
  EntryWriter entry(end, record.order);
  Entry kind = Entry::other;
  if (record.address % 16 != 0 || moved >= kNumbersEnd) [[unlikely]] {
    kind = Entry::odd;
    entry.whole(record.address, 8);
    entry.whole(record.what, 8);
  } else {
    entry.number(moved, 2);
    if (call == Call::allocate) {
      kind = align_log2 == 0 ? Entry::allocate : Entry::aligned;
      entry.number(bytes_of(record), 4);
      if (align_log2 != 0) entry.whole(align_log2, 1);
    } else if (call == Call::free && is_plain_free) {
      kind = Entry::free;
    } else if (call == Call::reallocating && is_plain_free) {
      kind = Entry::reallocating;
    } else {
      entry.whole(record.what, 8);
    }
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(&record);
  if constexpr (sizeof(R) > sizeof(Record)) {
    entry.further(bytes + sizeof(Record), sizeof(R) - sizeof(Record));
  }
  entry.end(kind);
}

/// The time at an order.
inline void write_time(PageEnd& end, std::uint64_t order, std::int64_t time_ns) {
  EntryWriter entry(end, order);
  entry.number(unsigned_of(static_cast<std::uint64_t>(time_ns - end.time_ns)), 2);
  end.time_ns = time_ns;
  entry.end(Entry::time);
}

}  // namespace memreplay::capture
