#pragma once

#include <cstddef>
#include <cstdint>

namespace memreplay::capture {

// A spool holds the calls of one process: a head, then pages of records, each page of one thread.
// The process writes it in place, in mapped memory: what is killed loses nothing. Numbers are of
// the machine that wrote them.

inline constexpr std::size_t kSpoolPageBytes = 4096;
inline constexpr char kSpoolMagic[16] = "memreplay-spool";
inline constexpr std::uint32_t kSpoolVersion = 1;
inline constexpr char kSpoolSuffix[] = ".spool";

/// The first page.
struct SpoolHead {
  char magic[16] = {};
  std::uint32_t version = 0;
  std::uint32_t record_bytes = 0;
  char recorder[16] = {};  ///< "malloc", "cuda"
  std::uint32_t process = 0;
  std::uint32_t stopped_by = 0;    ///< the error that ended the recording before its process
  std::uint64_t first_order = 0;   ///< orders count on from the process that forked this one
  std::int64_t begun_ns = 0;       ///< CLOCK_MONOTONIC
  std::int64_t begun_unix_ns = 0;  ///< CLOCK_REALTIME
  char forked_from[256] = {};      ///< file name of that process's spool; empty: it was executed
  char command[1024] = {};         ///< the arguments, each ends in a 0; cut off where too long
  std::uint32_t unrecorded_forks = 0;  ///< processes forked from this one that could not begin
};
static_assert(sizeof(SpoolHead) <= kSpoolPageBytes);

/// In front of a page's records.
struct alignas(64) SpoolPageHead {
  std::uint32_t thread = 0;        ///< the kernel's number; 0: the page was not used
  std::uint32_t users = 0;         ///< the recorder's own: who still needs the mapping
  std::uint64_t mapped_bytes = 0;  ///< the recorder's own
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

/// One call, or one end of it. Frees are numbered before they are done, allocations after: a block
/// that begins where another one ended has the higher order.
struct Record {
  std::uint64_t order = 0;  ///< 1 and up, over all threads; written last; 0: not written
  std::uint64_t address = 0;
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC, to a microsecond
  std::uint64_t what = 0;    ///< size, alignment and call, see `described`
};
static_assert(sizeof(Record) == 32);

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
