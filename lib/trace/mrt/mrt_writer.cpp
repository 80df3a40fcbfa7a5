#include "trace/mrt/mrt_sink.hpp"
#include "trace/writer.hpp"

namespace memreplay {

WriterInfo mrt_writer() {
  return {.format = "mrt",
          .name = "MRT",
          .suffix = ".mrt",
          .needs_addresses = false,
          .write =
              [](const Recording& recording, std::ostream& out) {
                MrtSink sink(out);
                for (std::size_t i = 0; i < recording.traces.size(); ++i) {
                  sink.add(i, recording.traces[i]);
                }
                sink.finish(recording);
                return Losses();
              },
          .open = [](std::ostream& out) -> std::unique_ptr<EventSink> {
            return std::make_unique<MrtSink>(out);
          }};
}

}  // namespace memreplay
