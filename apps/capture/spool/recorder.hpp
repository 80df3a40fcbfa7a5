#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "spool/page_writer.hpp"
#include "spool/spool_format.hpp"

/// The writing end of a spool, part of each preloaded object: it allocates nothing, keeps errno,
/// and is no cancellation point.

namespace memreplay::capture {

struct RecorderKind {
  const char* name;
  std::uint32_t record_bytes;
};
/// What this object records.
extern const RecorderKind kRecorder;

/// The order of a thread's last call, which a process that is forked finds as it was then. Some
/// threads share one where there are many.
struct alignas(64) Seat {
  std::atomic<std::uint64_t> latest;
};

/// Where the calling thread writes next.
struct Cursor {
  PageEnd page;
  SpoolPageHead* chunk = nullptr;
  Seat* seat = nullptr;
  bool shares_seat = false;
  bool busy = false;  ///< within a recorded call: what that calls in turn is not the program's
  std::uint32_t life = 0;
  std::uint64_t told_order = 0;  ///< at the last time in the page
  std::uint64_t ticks = 0;       ///< `counted`: the processor's, when the time was asked for
  std::int64_t time_ns = 0;
};
extern constinit thread_local Cursor cursor;

/// What a process has of its own: the kernel empties it in every child, however it was forked.
struct Life {
  std::atomic<std::uint32_t> number;  ///< 0: not begun
  std::atomic<bool> locked;
  SpoolPageHead* chunk;       ///< pages are handed out of it
  std::uint32_t pages_given;  ///< pages given out of it
  std::uint32_t threads;      ///< that have written
  std::uint64_t file_bytes;
  SpoolHead* head;  ///< head of this process's file, mapped until its end; null: it has no file
};
extern constinit std::atomic<Life*> life;
extern constinit std::atomic<bool> recording_is_off;

/// What the orders of calls are. A thread that finds a place free sees at least the `Order` that
/// the one which freed it saw.
enum class Order : std::uint8_t {
  ticks,          ///< the processor's, read at about that moment: there is one thread
  ordered_ticks,  ///< read after all before it is done; takes twice as long
  counted,        ///< by one counter, where the ticks of several processors do not agree
};
extern constinit std::atomic<Order> order_by;

/// Gives the cursor a page to write to; false where nothing is recorded.
bool turn_page();
/// Writes the time into the page, which has room for it and a call.
void tell_time();
std::uint64_t counted_order();
void raise(Seat& seat, std::uint64_t order);

/// Around a call of the program: true where the program itself made it and it is recorded.
class Outermost {
 public:
  Outermost() : is_outermost_(!cursor.busy) { cursor.busy = true; }
  ~Outermost() {
    if (is_outermost_) cursor.busy = false;
  }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return is_outermost_; }

 private:
  bool is_outermost_;
};

/// Ticks, of 1 to 6 GHz, in one order: much shorter than a block takes from thread to thread.
inline constexpr unsigned kTicksLog2 = 3;

inline std::uint64_t order_now() {
#ifdef __x86_64__
  const Order by = order_by.load(std::memory_order_relaxed);
  unsigned processor = 0;
  if (by == Order::ticks) return __builtin_ia32_rdtsc() >> kTicksLog2;
  if (by == Order::ordered_ticks) return __builtin_ia32_rdtscp(&processor) >> kTicksLog2;
#endif
  return counted_order();
}

/// Puts a call, whose order is set here, into the spool. Within its caller the record is none.
template <typename R>
[[gnu::always_inline]] inline void write(R record) {
  constexpr std::uint64_t kSoon = 1 << 18;  // some 1 ms
  if (recording_is_off.load(std::memory_order_relaxed)) return;
  while (true) {
    const std::uint32_t now = life.load(std::memory_order_acquire)->number;
    if (cursor.life != now || cursor.page.next >= cursor.page.full) [[unlikely]] {
      if (!turn_page()) return;
    }
    record.order = order_now();
    if (record.order - cursor.told_order <= kSoon) [[likely]]
      break;
    tell_time();
  }
  record.order = std::max(record.order, cursor.page.order);
  write_entry(cursor.page, record);
  if (cursor.shares_seat) [[unlikely]]
    return raise(*cursor.seat, record.order);
  cursor.seat->latest.store(record.order, std::memory_order_relaxed);
}

/// A handle, never to be closed, of a library that the process has loaded, for some of its parts
/// alone perhaps; by how its file's name begins. Null where there is none.
void* loaded_library(const char* begins);

}  // namespace memreplay::capture
