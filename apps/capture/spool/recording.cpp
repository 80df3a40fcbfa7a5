#include "spool/recording.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "cuda/cuda_recording.hpp"
#include "malloc/malloc_recording.hpp"
#include "spool/spool_file.hpp"

namespace memreplay::capture {
namespace {

/// Arguments, each ends in a 0.
std::vector<std::string> arguments(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty() && text.front() != '\0') {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

SpooledProcess about(const std::string& path) {
  const SpoolFile spool(path);
  const SpoolHead& head = spool.head();
  return {.spool = path,
          .recorder = head.recorder,
          .process = head.process,
          .is_forked = head.forked_from[0] != '\0',
          .command = arguments({head.command, sizeof head.command}),
          .begun_unix_ns = head.begun_unix_ns};
}

}  // namespace

SpooledProcesses processes_in(const std::filesystem::path& folder) {
  SpooledProcesses found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != kSpoolSuffix) continue;
    try {
      found.processes.push_back(about(entry.path().string()));
    } catch (const InputError& error) {
      found.unreadable.emplace_back(error.what());
    }
  }
  if (error) throw InputError(folder.string(), "", "cannot be read: " + error.message());
  std::ranges::sort(found.processes, {}, [](const SpooledProcess& one) {
    return std::tie(one.begun_unix_ns, one.spool);
  });
  std::ranges::sort(found.unreadable);
  return found;
}

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
