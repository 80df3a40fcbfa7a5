#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "metrics/run_picture.hpp"
#include "program/facts.hpp"

namespace memreplay {

/// What the axis of a trace file counts.
enum class PerfettoClock {
  recorded_us,   ///< as recorded
  event_number,  ///< one event is one microsecond
};

/// Whether events have times and these never decrease.
bool has_clock(std::span<const std::int64_t> times_us);

/// Writes Chrome's trace event format, which Perfetto reads: a process for each replay with the
/// counters `memory` (allocated and cached bytes, together those reserved) and `fragmentation`
/// (from 0 to 1), OOMs and retries as instants, segments as slices. Values that do not fit in 53
/// bits are written as text.
class PerfettoWriter {
 public:
  PerfettoWriter(std::ostream& out, PerfettoClock clock);

  /// `times_us` by event of the trace; not read where events are counted.
  void add_run(const std::string& name, const RunPicture& picture,
               std::span<const std::int64_t> times_us);
  /// The phases of a recording as slices of a process of their own. `events` of the trace.
  void add_phases(const std::string& name, const std::vector<Phase>& phases, std::uint64_t events,
                  std::span<const std::int64_t> times_us);
  /// To be called once, at the end.
  void finish();

 private:
  struct Slice {
    const char* category;
    std::string name;
    std::string arguments;  ///< written at its beginning; an object
    std::int64_t from_us;
    std::int64_t to_us;
  };

  void begin_process(const std::string& name);
  void add_counters(const RunPicture& picture, std::span<const std::int64_t> times_us);
  void add_instants(const RunPicture& picture, std::span<const std::int64_t> times_us);
  void add_slice(const Slice& slice);
  std::int64_t time_of(std::uint64_t event, std::span<const std::int64_t> times_us) const;
  std::string& begin_event();
  void end_event();

  std::ostream& out_;
  PerfettoClock clock_;
  std::string text_;
  int process_ = 0;
  std::uint64_t slices_ = 0;
  bool first_ = true;
};

}  // namespace memreplay
