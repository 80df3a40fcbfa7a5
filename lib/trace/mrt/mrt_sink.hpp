#pragma once

#include <deque>
#include <ostream>
#include <vector>

#include "core/peaks.hpp"
#include "trace/event_sink.hpp"
#include "trace/mrt/block_code.hpp"
#include "trace/mrt/mrt_format.hpp"

namespace memreplay {

/// Writes an .mrt.
class MrtSink final : public EventSink {
 public:
  /// Begins the file. `out` outlives this.
  explicit MrtSink(std::ostream& out);

  void add(std::size_t trace, const EventColumns& events) override;
  void finish(const Recording& recording) override;

 private:
  struct TraceSoFar {
    TraceSoFar() { peaks.note({}, 0, 0); }

    BlockEncoder encoder;
    EventTotals totals;
    Peaks peaks;
    Bytes requested = 0;
  };

  TraceSoFar& trace(std::size_t number);
  static void count(const EventColumns& events, TraceSoFar& trace);
  void write_block(std::size_t trace, std::size_t events, const std::string& payload);
  void write(std::string_view bytes);

  std::ostream& out_;
  std::uint64_t written_ = 0;
  std::deque<TraceSoFar> traces_;
  std::vector<MrtBlockHead> blocks_;
};

}  // namespace memreplay
