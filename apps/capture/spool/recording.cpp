#include "spool/recording.hpp"

#include <utility>

#include "core/error.hpp"
#include "cuda/cuda_recording.hpp"
#include "malloc/malloc_recording.hpp"

namespace memreplay::capture {
namespace {

/// Puts the events back into their traces.
class Kept final : public EventSink {
 public:
  void add(std::size_t trace, const EventColumns& events) override {
    if (events_.size() <= trace) events_.resize(trace + 1);
    append(events, events_[trace]);
  }
  void finish(const Recording& recording) override {
    recording_ = recording;
    events_.resize(recording_.traces.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      static_cast<EventColumns&>(recording_.traces[i]) = std::move(events_[i]);
    }
  }
  Recording take() { return std::move(recording_); }

 private:
  std::vector<EventColumns> events_;
  Recording recording_;
};

}  // namespace

SpoolSummary stream_recording(const SpooledProcess& process, EventSink& sink) {
  if (process.recorder == "malloc") return stream_malloc(process, sink);
  if (process.recorder == "cuda") return stream_cuda(process, sink);
  throw InputError(process.spool, "",
                   "a spool of '" + process.recorder + "'; expected malloc or cuda");
}

Recording recording_of(const SpooledProcess& process) {
  Recording out;
  out.path = process.spool;
  out.format = process.recorder;
  out.detail = "calls of " + process.recorder + " by " +
               (process.command.empty() ? "?" : process.command.front());
  out.texts = {""};
  out.stacks = {{}};
  return out;
}

Recording read_recording(const SpooledProcess& process, SpoolSummary& summary) {
  Kept kept;
  summary = stream_recording(process, kept);
  return kept.take();
}

}  // namespace memreplay::capture
