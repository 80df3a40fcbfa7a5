#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/units.hpp"
#include "trace/event_columns.hpp"

namespace memreplay {

/// What is known of all events of a trace before any of them is read.
struct EventTotals {
  std::uint64_t events = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t ooms = 0;     ///< refused requests; an .mrt does not say
  bool program_alone = true;  ///< nothing that the recorded allocator did, and no refused request
  bool requests_say_more = false;           ///< than size, alignment, stream and pool
  Bytes peak_requested = 0;                 ///< for a trace that starts empty
  std::optional<std::uint64_t> peak_event;  ///< the peak is right after it; unset: before the first
  std::optional<std::pair<std::int64_t, std::int64_t>> times_us;  ///< the first and the last

  friend bool operator==(const EventTotals&, const EventTotals&) = default;
};

/// Hands on the events of a trace in their order.
class EventStream {
 public:
  virtual ~EventStream() = default;
  /// Puts the next events in the place of those that `events` holds; false after the last one.
  /// Throws InputError for what cannot be read, or breaks the promises of `fault_in`.
  virtual bool next(EventColumns& events) = 0;
};

/// Which cold columns a stream hands on.
enum class ColdColumns {
  of_requests,  ///< threads, tags, freed_before, upper_end
  and_times,
};

/// Events that stay in their file: of a trace that starts empty, of another allocator than
/// PyTorch's. May be opened from several threads.
class StreamedEvents {
 public:
  virtual ~StreamedEvents() = default;
  virtual const EventTotals& totals() const = 0;
  /// False where they were read, and only counted. Else they are of the program alone.
  virtual bool can_open() const { return true; }
  virtual std::unique_ptr<EventStream> open(ColdColumns) const = 0;
};

}  // namespace memreplay
