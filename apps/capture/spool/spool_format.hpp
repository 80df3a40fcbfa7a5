#pragma once

#include <cstddef>
#include <cstdint>

namespace memreplay::capture {

// A spool holds the calls of one process: a head, then pages, each with the calls of one thread.
// The process writes it in place, in mapped memory: what is killed loses nothing. Numbers are of
// the machine that wrote them, the least byte first.
//
// A page is its head, then entries one after the other, then zeros. It can be read without any
// other page. An entry's numbers are differences from what came before in the page, each in 1, 2, 3
// or 6 bytes, which its code says: 0, 1, 2 or 3. A difference d that may be negative is the number
// 2 d, or -2 d - 1.
//
//   head       1 byte: bits 0-1 code of the order, 2-3 code of the address, 4-7 the `Entry`
//   order      less the order before; before the first entry that of the page's head
//   address    a 16th of it, less a 16th of the address before, at first of 0; signed
//   size       `allocate`, `aligned`: in bytes; its code is added to the `Entry`
//   alignment  `aligned`: 1 byte, the logarithm
//   what       `other`, `odd`: 8 bytes, as in `Record`
//   further    `SpoolHead::record_bytes` less those of a `Record`, as the recorder has them
//
// `odd` has the whole address, in 8 bytes, and 0 as its code. `time` is no call: in place of the
// address is CLOCK_MONOTONIC in ns at its order, less the time before, at first that of the page's
// head; nothing follows.
//
// The head of an entry is written last: a process that is killed before has not made the entry.

inline constexpr std::size_t kSpoolPageBytes = 4096;
inline constexpr char kSpoolMagic[16] = "memreplay-spool";
inline constexpr std::uint32_t kSpoolVersion = 2;
inline constexpr char kSpoolSuffix[] = ".spool";

/// The first page.
struct SpoolHead {
  char magic[16] = {};
  std::uint32_t version = 0;
  std::uint32_t record_bytes = 0;  ///< a `Record` and what the recorder adds
  char recorder[16] = {};          ///< "malloc", "cuda"
  std::uint32_t process = 0;
  std::uint32_t stopped_by = 0;    ///< the error that ended the recording before its process
  std::uint64_t first_order = 0;   ///< the last one of the process that forked this one, until then
  std::uint64_t begun_order = 0;   ///< at `begun_ns`
  std::int64_t begun_ns = 0;       ///< CLOCK_MONOTONIC
  std::int64_t begun_unix_ns = 0;  ///< CLOCK_REALTIME
  char forked_from[256] = {};      ///< file name of that process's spool; empty: it was executed
  char command[1024] = {};         ///< the arguments, each ends in a 0; cut off where too long
  std::uint32_t unrecorded_forks = 0;  ///< processes forked from this one that could not begin
};
static_assert(sizeof(SpoolHead) <= kSpoolPageBytes);

/// In front of a page's entries.
struct alignas(32) SpoolPageHead {
  std::uint32_t thread = 0;        ///< the kernel's number, written last; 0: the page was not used
  std::uint32_t users = 0;         ///< the recorder's own: who still needs the mapping
  std::uint64_t mapped_bytes = 0;  ///< the recorder's own
  std::uint64_t order = 0;
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC at `order`
};
static_assert(sizeof(SpoolPageHead) == 32);

enum class Entry : std::uint8_t {
  none,
  time,
  other,  ///< what has no entry of its own
  odd,    ///< any call at an address that is no multiple of 16, or far away
  allocate = 4,
  aligned = 8,
  free = 12,
  reallocating,
};

enum class Call : std::uint8_t {
  none,
  allocate,
  refused,  ///< the program got nothing
  free,
  reallocating,  ///< as `free`; what came of it follows in the same thread
  kept,          ///< a refused free or reallocation: the block is where it was
  failed,        ///< a request that was wrong in another way
  map,           ///< maps addresses to physical memory
  unmap,
};

/// One call, or one end of it. The order of a free is that before it is done, of an allocation that
/// after it: a block that begins where another one ended has the higher order.
struct Record {
  std::uint64_t order = 0;  ///< never falls within a thread
  std::uint64_t address = 0;
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC, to a microsecond
  std::uint64_t what = 0;    ///< size, alignment and call, see `described`
};
static_assert(sizeof(Record) == 32);
inline constexpr std::size_t kMostRecordBytes = 64;  ///< with what a recorder adds

inline constexpr std::uint64_t kMostRecordedBytes = (std::uint64_t{1} << 48) - 1;

/// Larger sizes, which no machine has, are cut off.
constexpr std::uint64_t described(Call call, std::uint64_t bytes, std::uint8_t align_log2 = 0) {
  return (bytes < kMostRecordedBytes ? bytes : kMostRecordedBytes) |
         std::uint64_t{align_log2} << 48 | std::uint64_t{static_cast<std::uint8_t>(call)} << 56;
}
constexpr Call call_of(const Record& record) { return static_cast<Call>(record.what >> 56); }
constexpr std::uint64_t bytes_of(const Record& record) { return record.what & kMostRecordedBytes; }
constexpr std::uint8_t align_log2_of(const Record& record) {
  return static_cast<std::uint8_t>(record.what >> 48);
}

}  // namespace memreplay::capture
