#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.hpp"
#include "core/siphash.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// One call of a program: what it asks for, or gives back. Equal for equal programs, whatever the
/// allocator and the driver made of it: without addresses, threads and times, streams and pools in
/// order of their first use, blocks by the request that they came of.
struct Call {
  Op op =
      Op::allocate;  ///< allocate, oom, free, empty_cache, safe_frontier; marker: what was there
  std::uint8_t align_log2 = 0;
  std::uint8_t upper_end = 0;
  std::uint16_t stream = 0;
  std::uint16_t pool = 0;
  Bytes size = 0;
  /// For a free: how many requests ago its block was asked for, 0: before the recording; for a
  /// request: `freed_before`; for what was there: the number of blocks.
  std::uint64_t number = 0;

  friend bool operator==(const Call&, const Call&) = default;
};

/// All that a program asks for, in order.
struct RequestStream {
  std::vector<Call> calls;
  std::vector<std::uint64_t> events;  ///< events in the trace, by call
  std::uint64_t end = 0;              ///< events of the trace
  std::vector<std::uint32_t> places;  ///< by call, which of `names`; empty: not looked for
  std::vector<std::string> names;     ///< call sites; 0 is the empty one, not known

  const std::string& place(std::size_t call) const;
};

/// O(events).
RequestStream request_stream(const Trace& trace);
/// Names the code place of each request. O(events + stacks).
void name_places(const Recording& recording, const Trace& trace, RequestStream& stream);

/// As few bytes as it takes, and back. Throws MrtFault for bytes that mean nothing.
std::string packed(const RequestStream& stream);
RequestStream unpacked(std::string_view bytes);

/// Hashes of the beginnings of a stream: after each of the first calls, then after blocks of them.
class Beginnings {
 public:
  explicit Beginnings(const RequestStream& stream);

  /// The hash of the whole stream.
  Hash128 whole() const { return whole_; }
  /// How many calls both have in common at the beginning; large numbers are rounded down to whole
  /// blocks. O(log).
  std::size_t common(const Beginnings& other) const;

 private:
  std::vector<Hash128> hashes_;
  Hash128 whole_;
};

/// The first call at which two streams differ; where one ends before, its end.
std::size_t first_difference(const RequestStream& a, const RequestStream& b, std::size_t from);

}  // namespace memreplay
