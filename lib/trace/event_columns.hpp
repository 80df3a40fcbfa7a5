#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/program.hpp"
#include "core/request.hpp"
#include "core/units.hpp"

namespace memreplay {

/// Events in columns: 16 bytes an event hot, at most 45 cold. A cold column is empty where the
/// format has no such field.
struct EventColumns {
  // Hot: all that a replay reads.
  std::vector<Op> ops;
  std::vector<std::uint8_t> align_log2;  ///< 0: the caller did not say
  std::vector<std::uint16_t> lane_of;    ///< index into lanes
  std::vector<Slot> slots;               ///< kNoSlot where the event concerns no block
  std::vector<Bytes>
      sizes;  ///< requested; of a free the size of its block; of driver events theirs

  // Cold: read by reports.
  std::vector<std::int64_t> times_us;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> stacks;        ///< index into Recording::stacks; 0: none
  std::vector<std::uint32_t> tags;          ///< index into Recording::texts; 0: none
  std::vector<Address> addresses;           ///< as recorded
  std::vector<std::uint64_t> ids;           ///< the caller's own names of blocks
  std::vector<std::uint64_t> freed_before;  ///< BFC: only memory freed by then will do; 0: any
  std::vector<std::uint8_t> upper_end;      ///< BFC: 1 asks for the upper end of the region

  friend bool operator==(const EventColumns&, const EventColumns&) = default;
};

/// Every cold column, in the order above.
inline constexpr std::tuple kColdColumns{&EventColumns::times_us,     &EventColumns::threads,
                                         &EventColumns::stacks,       &EventColumns::tags,
                                         &EventColumns::addresses,    &EventColumns::ids,
                                         &EventColumns::freed_before, &EventColumns::upper_end};

/// Calls `use` with every column.
template <typename Use>
void for_each_column(Use use) {
  use(&EventColumns::ops);
  use(&EventColumns::align_log2);
  use(&EventColumns::lane_of);
  use(&EventColumns::slots);
  use(&EventColumns::sizes);
  std::apply([&](auto... column) { (use(column), ...); }, kColdColumns);
}

/// Puts one event of others after those there are; a column that only some of them have is filled
/// with zeros.
inline void append_event(const EventColumns& others, std::size_t event, EventColumns& events) {
  const std::size_t before = events.ops.size();
  for_each_column([&](auto column) {
    auto& all = events.*column;
    if ((others.*column).empty()) return all.resize(all.empty() ? 0 : before + 1);
    all.resize(before);
    all.push_back((others.*column)[event]);
  });
}

/// Puts further events after those there are.
inline void append(const EventColumns& further, EventColumns& events) {
  for_each_column([&](auto column) {
    auto& all = events.*column;
    all.insert(all.end(), (further.*column).begin(), (further.*column).end());
  });
}

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
