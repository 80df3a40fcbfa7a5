#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "trace/gate.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/torch/unstated_settings.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

Bytes kept_up_to(std::string_view conf) {
  constexpr std::string_view kLimit = "pinned_max_cached_size_mb:";
  const std::size_t at = conf.find(kLimit);
  if (at == conf.npos) return UINT64_MAX;
  const std::string_view number = conf.substr(at + kLimit.size());
  const auto limit = parse_whole(number.substr(0, number.find(',')));
  return limit && *limit <= UINT64_MAX / kMiB ? *limit * kMiB : UINT64_MAX;
}

/// The events of a trace once more, with changes.
class HostCalls {
 public:
  HostCalls(Trace& trace, Bytes kept) : trace_(trace), kept_(kept) {}

  void find() {
    bool emptying = false;
    for (std::size_t event = 0; event < trace_.size(); ++event) {
      const bool returns = trace_.ops[event] == Op::segment_free && !goes_back_alone(event);
      if (returns && !emptying) add(event, Op::empty_cache, kNoSlot);
      emptying = returns;
      if (trace_.completes_at_once(event)) {
        add(event, Op::free, trace_.slots[event]);
        ++event;
      } else {
        add(event, trace_.ops[event], trace_.slots[event]);
      }
    }
    static_cast<EventColumns&>(trace_) = std::move(calls_);
  }

 private:
  // Right after the end of the block's life, and too large to be kept.
  bool goes_back_alone(std::size_t event) const {
    if (event == 0 || trace_.sizes[event] <= kept_) return false;
    const Op before = trace_.ops[event - 1];
    return (before == Op::free || before == Op::free_completed) &&
           trace_.addresses[event - 1] == trace_.addresses[event];
  }

  void add(std::size_t event, Op op, Slot slot) {
    append_event(trace_, event, calls_);
    calls_.ops.back() = op;
    calls_.slots.back() = slot;
    if (op != Op::empty_cache) return;
    calls_.sizes.back() = 0;
    if (!calls_.addresses.empty()) calls_.addresses.back() = 0;
  }

  Trace& trace_;
  Bytes kept_;
  EventColumns calls_;
};

/// Makes of the entries of PyTorch's pinned memory what its program called: a free that no stream
/// held up is one event, and memory returned without a free shows an `empty_cache`. `conf`: the
/// setting, by which large blocks may go back when they are freed.
void find_host_calls(Trace& trace, const std::string& conf) {
  HostCalls(trace, kept_up_to(conf)).find();
}

constexpr std::string_view kNoHostMemory =
    "no pinned host memory in it; expected a snapshot of PyTorch 2.14 or newer that was recorded "
    "with record_pinned_host_memory=True";

void take_texts(TorchSnapshot&& snapshot, Recording& recording) {
  recording.texts = std::move(snapshot.texts);
  recording.frames = std::move(snapshot.frames);
  recording.stacks = std::move(snapshot.stacks);
}

}  // namespace

Recording torch_recording(TorchSnapshot&& snapshot, const std::string& path,
                          const std::string& format, const std::string& detail) {
  Recording recording;
  recording.path = path;
  recording.format = format;
  recording.detail = detail;
  if (snapshot.device_traces.size() > kMostDevices) {
    throw InputError(path, "device_traces",
                     std::to_string(snapshot.device_traces.size()) + " devices; expected at most " +
                         std::to_string(kMostDevices));
  }
  int devices = static_cast<int>(snapshot.device_traces.size());
  std::vector<bool> used(static_cast<std::size_t>(devices));
  for (const TorchSegment& segment : snapshot.segments) {
    if (segment.device < 0 || segment.device >= kMostDevices) {
      throw InputError(
          path, "segments",
          "device " + std::to_string(segment.device) + "; expected a number from 0 to 1023");
    }
    devices = std::max(devices, segment.device + 1);
    used.resize(static_cast<std::size_t>(devices));
    used[static_cast<std::size_t>(segment.device)] = true;
  }
  find_unstated_settings(snapshot);
  for (int device = 0; device < devices; ++device) {
    const auto index = static_cast<std::size_t>(device);
    const bool has_events =
        index < snapshot.device_traces.size() && !snapshot.device_traces[index].empty();
    if (has_events || used[index]) recording.traces.push_back(torch_trace(snapshot, device));
  }
  if (!recording.traces.empty()) {
    auto& dropped = recording.traces.front().coverage.dropped;
    if (snapshot.host_entries > 0) dropped["pinned host memory entries"] = snapshot.host_entries;
    for (const auto& [action, count] : snapshot.unknown_actions) {
      dropped["entries with the unknown action '" + action + "'"] = count;
    }
  } else if (snapshot.host_entries > 0) {
    recording.why_no_trace = "has no memory of a device, but pinned host memory (--gpu host)";
  }
  recording.settings = std::move(snapshot.settings);
  recording.annotations = std::move(snapshot.annotations);
  take_texts(std::move(snapshot), recording);
  return recording;
}

Recording host_recording(TorchSnapshot&& snapshot, const std::string& path,
                         const std::string& /*format*/, const std::string& detail) {
  if (snapshot.device_traces.empty() && snapshot.segments.empty()) {
    throw InputError(path, "host_traces", kNoHostMemory);
  }
  for (TorchSegment& segment : snapshot.segments) segment.device = -1;
  Recording recording;
  recording.path = path;
  recording.format = kPinnedHostFormat;
  recording.detail = detail + ", its pinned host memory";
  recording.traces.push_back(torch_trace(snapshot, -1));
  const Trace& trace = recording.traces.front();
  if (trace.size() == 0 && trace.end.segments.empty()) {
    throw InputError(path, "host_traces", kNoHostMemory);
  }
  recording.settings.conf = std::move(snapshot.settings.conf);
  find_host_calls(recording.traces.front(), recording.settings.conf);
  take_texts(std::move(snapshot), recording);
  return recording;
}

}  // namespace memreplay
