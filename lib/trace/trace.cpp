#include "trace/trace.hpp"

namespace memreplay {

void for_each_block(
    const Trace& trace, ColdColumns wanted,
    const std::function<bool(std::uint64_t first, const EventColumns& events)>& use) {
  if (!trace.streamed) {
    use(0, trace);
    return;
  }
  const auto stream = trace.streamed->open(wanted);
  EventColumns events;
  std::uint64_t first = 0;
  while (stream->next(events) && use(first, events)) first += events.ops.size();
}

}  // namespace memreplay
