#pragma once

#include <deque>
#include <ostream>
#include <vector>

#include "trace/event_count.hpp"
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
    BlockEncoder encoder;
    EventCount count;
  };

  TraceSoFar& trace(std::size_t number);
  void write_block(std::size_t trace, std::size_t events, const std::string& payload);
  void write(std::string_view bytes);

  std::ostream& out_;
  std::uint64_t written_ = 0;
  std::deque<TraceSoFar> traces_;
  std::vector<MrtBlockHead> blocks_;
};

}  // namespace memreplay
