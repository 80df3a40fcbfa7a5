#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "trace/gate.hpp"
#include "trace/torch/host_calls.hpp"
#include "trace/torch/torch_snapshot.hpp"
#include "trace/torch/unstated_settings.hpp"

namespace memreplay {
namespace {

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
