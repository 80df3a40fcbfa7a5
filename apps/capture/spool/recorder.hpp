#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

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

/// Where the calling thread writes next.
struct Cursor {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  SpoolPageHead* chunk = nullptr;
  std::uint32_t life = 0;
  std::uint64_t ticks = 0;  ///< the processor's, when the time was asked for
  std::int64_t time_ns = 0;
  bool busy = false;  ///< within a recorded call: what that calls in turn is not the program's
};
extern constinit thread_local Cursor cursor;

/// What a process has of its own: the kernel empties it in every child, however it was forked.
struct Life {
  std::atomic<std::uint32_t> number;  ///< 0: not begun
  std::atomic<bool> locked;
  SpoolPageHead* chunk;       ///< pages are handed out of it
  std::uint32_t pages_given;  ///< pages given out of it
  std::uint64_t file_bytes;
  SpoolHead* head;  ///< head of this process's file, mapped until its end; null: it has no file
};
extern constinit std::atomic<Life*> life;
/// Apart from all that threads only read: each of them writes it for each record.
struct alignas(128) LastOrder {
  std::atomic<std::uint64_t> number;
};
extern constinit LastOrder last_order;
extern constinit std::atomic<bool> recording_is_off;

/// Gives the cursor a page to write to; false where nothing is recorded.
bool turn_page();

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

/// Counts up at 1 to 6 GHz; 0 where that is not to be had.
inline std::uint64_t processor_ticks() {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

/// The time, at most a microsecond old: the system's clock takes as long as an allocation.
inline std::int64_t time_about() {
  constexpr std::uint64_t kLittle = 1000;
  const std::uint64_t ticks = processor_ticks();
  if (ticks == 0 || ticks - cursor.ticks > kLittle) {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    cursor.time_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    cursor.ticks = ticks;
  }
  return cursor.time_ns;
}

/// Puts a record, whose order and time are set here, into the spool. The increment needs no memory
/// order: an allocator that hands a block from one thread to another brings it along. Within its
/// caller the record is made in its place.
template <typename R>
[[gnu::always_inline]] inline void write(const R& record) {
  if (recording_is_off.load(std::memory_order_relaxed)) return;
  const std::uint32_t now = life.load(std::memory_order_acquire)->number;
  if (cursor.life != now || cursor.next == cursor.end) [[unlikely]] {
    if (!turn_page()) return;
  }
  R* const place = reinterpret_cast<R*>(cursor.next);
  *place = record;
  place->time_ns = time_about();
  const std::uint64_t order = last_order.number.fetch_add(1, std::memory_order_relaxed) + 1;
  std::atomic_ref(place->order).store(order, std::memory_order_release);
  cursor.next += sizeof(R);
}

/// A handle, never to be closed, of a library that the process has loaded, for some of its parts
/// alone perhaps; by how its file's name begins. Null where there is none.
void* loaded_library(const char* begins);

}  // namespace memreplay::capture
