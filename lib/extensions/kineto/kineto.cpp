#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/kineto/kineto_events.hpp"
#include "trace/gate.hpp"
#include "trace/log_reading.hpp"
#include "trace/pointer_log.hpp"
#include "trace/process_choice.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

bool is_kineto(const Input& input) {
  constexpr std::size_t kNear = 64 * kKiB;
  const std::string_view head = input.bytes.substr(0, kNear);
  if (is_event_list(head)) return head.find("\"ph\"") != head.npos;
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == head.npos || head[first] != '{') return false;
  return head.find("\"schemaVersion\"") != head.npos || head.find("\"traceEvents\"") != head.npos;
}

std::string called(int gpu) { return gpu < 0 ? "the host" : fmt::format("gpu {}", gpu); }

/// What an allocator held before its first event.
struct KinetoStart {
  std::pair<double, std::uint64_t> order = {INFINITY, 0};  ///< time and index of that event
  std::optional<Bytes> allocated;
  std::optional<Bytes> reserved;  ///< or less, by what that event obtained

  void note(const KinetoEvent& event) {
    const std::pair of_event{event.time_us, event.index};
    if (!(of_event < order)) return;
    order = of_event;
    reserved = event.reserved;
    allocated = event.allocated;
    if (allocated.value_or(0) >= kMostBytes) allocated.reset();
    if (!allocated || event.is_refused) return;
    const auto size = static_cast<Bytes>(std::abs(event.bytes));
    *allocated = event.bytes < 0 ? *allocated + size : *allocated - std::min(*allocated, size);
  }
};

/// What a file says of one device, before anything is made of it.
struct KinetoDevice {
  std::uint64_t events = 0;
  std::uint64_t with_address = 0;
  std::int64_t bytes = 0;  ///< more than before the first event
  std::int64_t most_bytes = 0;
  std::optional<Bytes> most_reserved;
  std::map<std::uint64_t, KinetoStart> starts;  ///< by process: each has allocators of its own
};

/// Looks at every event once.
class KinetoSurvey {
 public:
  explicit KinetoSurvey(const ReadOptions& options) : processes_(options) {}

  void note(const KinetoEvent& event) {
    if (!processes_.takes(event.process)) return;
    const std::pair order{event.time_us, event.index};
    is_ordered_ = is_ordered_ && !(order < latest_);
    latest_ = order;
    KinetoDevice& device = devices_[event.device];
    ++device.events;
    device.starts[event.process].note(event);
    device.with_address += event.address.has_value();
    if (event.reserved)
      device.most_reserved = std::max(device.most_reserved.value_or(0), *event.reserved);
    if (event.is_refused) return;
    // In damaged files the sum may overflow: it is then no more than a number.
    device.bytes = static_cast<std::int64_t>(static_cast<std::uint64_t>(device.bytes) +
                                             static_cast<std::uint64_t>(event.bytes));
    device.most_bytes = std::max(device.most_bytes, device.bytes);
  }

  bool is_ordered() const { return is_ordered_; }
  bool has_addresses() const {
    return std::ranges::any_of(devices_, [](const auto& d) { return d.second.with_address > 0; });
  }
  std::uint64_t events() const {
    std::uint64_t events = 0;
    for (const auto& [gpu, device] : devices_) events += device.events;
    return events;
  }
  /// What all processes that are taken held of the device; unset: not known.
  KinetoStart start_of(int gpu) const {
    KinetoStart sum;
    for (const auto& [process, start] : devices_.at(gpu).starts) {
      if (start.allocated) sum.allocated = sum.allocated.value_or(0) + *start.allocated;
      if (start.reserved) sum.reserved = sum.reserved.value_or(0) + *start.reserved;
    }
    return sum;
  }
  /// "8,220 memory events on gpu 0 (2662 MiB above the start at most)"
  std::string told() const {
    std::string text = "PyTorch profiler trace";
    for (const auto& [gpu, device] : devices_) {
      text += fmt::format(
          "; {} on {} ({} above its start at most{})",
          human_count(device.events) + (device.events == 1 ? " memory event" : " memory events"),
          called(gpu), human_size(static_cast<Bytes>(device.most_bytes)),
          device.most_reserved.value_or(0) > 0
              ? fmt::format(", {} reserved", human_size(*device.most_reserved))
              : std::string());
    }
    return text;
  }

 private:
  ProcessChoice processes_;
  std::map<int, KinetoDevice> devices_;
  std::pair<double, std::uint64_t> latest_ = {-INFINITY, 0};
  bool is_ordered_ = true;
};

Recording empty_kineto(const Input& input, const KinetoSurvey& survey) {
  if (survey.events() == 0) {
    throw InputError(input.name, "",
                     "has no [memory] events; expected a trace of PyTorch's profiler with "
                     "profile_memory=True");
  }
  Recording recording = recording_of_log(input, "kineto", survey.told());
  recording.lacks = {"streams", "alignments",
                     "the sizes asked for (those of devices are rounded by the recorder)"};
  if (survey.has_addresses()) return recording;
  recording.lacks.insert(recording.lacks.begin(), "addresses");
  recording.why_no_trace = fmt::format(
      "has {} [memory] events without addresses, so that no free says which allocation it ends "
      "(profilers of newer PyTorch write them)",
      human_count(survey.events()));
  return recording;
}

using EarlierByDevice = std::map<int, EarlierPointers>;

/// Makes the traces of all devices.
class KinetoTraces {
 public:
  KinetoTraces(const Input& input, const ReadOptions& options, const KinetoSurvey& survey,
               const EarlierByDevice& earlier, BeginDevice begin)
      : input_(input),
        processes_(options),
        survey_(survey),
        earlier_(earlier),
        begin_(std::move(begin)) {}

  void take(const KinetoEvent& event) {
    event_ = &event;
    if (!processes_.takes(event.process)) {
      others_.leave_out("events of other processes", [&] { return place(); });
      return;
    }
    PointerLog& log = log_of(event.device);
    const auto size = static_cast<Bytes>(std::abs(event.bytes));
    if (event.is_refused) {
      log.refuse(heap_of(event), size);
    } else if (!event.address) {
      log.lacks("[memory] events without an address");
    } else if (event.bytes < 0) {
      log.free(heap_of(event), *event.address, size);
    } else {
      log.allocate(heap_of(event), *event.address, size);
    }
    log.fill<&Trace::times_us>(static_cast<std::int64_t>(std::floor(event.time_us)));
    log.fill<&Trace::threads>(event.thread);
    log.is_filled();
  }

  /// After all events. The devices that have any are in the recording then.
  void finish(Recording& recording) {
    if (const std::string missing = processes_.tell(recording); !missing.empty()) {
      throw InputError(input_.name, "", missing);
    }
    for (const auto& [reason, events] : std::exchange(others_.dropped, {})) {
      if (logs_.empty()) break;
      logs_.begin()->second->trace().coverage.leave_out(
          reason, [this, &why = reason] { return others_.first_places[why]; }, events);
    }
    for (auto& [gpu, log] : logs_) {
      Recording part = recording_of_log(input_, "kineto", {});
      log->is_unsure();
      log->finish(part);
      note_cached(gpu, part);
      for (std::string& what : part.lacks) recording.lacks.push_back(called(gpu) + ": " + what);
      if (!part.traces.empty()) recording.traces.push_back(std::move(part.traces.front()));
    }
  }
  /// Unset where the traces begin with what was there before.
  std::optional<EarlierByDevice> earlier() const {
    EarlierByDevice better = earlier_;
    bool any = false;
    for (const auto& [gpu, log] : logs_) {
      EarlierPointers of_device = log->earlier();
      if (!of_device) continue;
      better[gpu] = std::move(of_device);
      any = true;
    }
    return any ? std::optional(better) : std::nullopt;
  }

 private:
  // What the recorder stated as reserved before its first event is more than what was live: where
  // it lay, and in how many parts, is not in the log.
  void note_cached(int gpu, Recording& part) const {
    const KinetoStart start = survey_.start_of(gpu);
    const Bytes reserved = start.reserved.value_or(0);
    const Bytes allocated = start.allocated.value_or(reserved);
    if (allocated == 0 || reserved <= allocated) return;
    part.traces.back().coverage.cached_bytes = reserved - allocated;
    part.lacks.push_back(fmt::format("memory cached before the log ({} of {} reserved)",
                                     human_size(reserved - allocated), human_size(reserved)));
  }

  std::string place() const { return "byte " + human_count(event_->byte); }

  // Each process has addresses of its own.
  PointerPlace heap_of(const KinetoEvent& event) {
    if (!processes_.is_merged()) return {};
    return {.heap = heaps_.try_emplace(event.process, heaps_.size()).first->second};
  }

  PointerLog& log_of(int gpu) {
    std::unique_ptr<PointerLog>& log = logs_[gpu];
    if (log) return *log;
    log = std::make_unique<PointerLog>(gpu, input_.name, begin_of(begin_, gpu));
    log->tell_places([this] { return place(); });
    if (const auto known = earlier_.find(gpu); known != earlier_.end()) {
      log->begin_with(known->second);
    }
    if (const auto live = survey_.start_of(gpu).allocated) log->begin_with_rest(*live);
    return *log;
  }

  const Input& input_;
  ProcessChoice processes_;
  const KinetoSurvey& survey_;
  Coverage others_;                               ///< what was left out of other processes
  std::map<std::uint64_t, std::uint64_t> heaps_;  ///< numbers of processes that are merged
  EarlierByDevice earlier_;
  BeginDevice begin_;
  std::map<int, std::unique_ptr<PointerLog>> logs_;
  const KinetoEvent* event_ = nullptr;
};

Recording read_kineto(const Input& input, const ReadOptions& options) {
  KinetoSurvey survey(options);
  std::vector<KinetoEvent> events;
  for_each_kineto_event(input, [&](const KinetoEvent& event) {
    survey.note(event);
    events.push_back(event);
  });
  if (!survey.is_ordered()) {
    std::ranges::stable_sort(
        events, {}, [](const KinetoEvent& event) { return std::pair(event.time_us, event.index); });
    survey = KinetoSurvey(options);
    for (const KinetoEvent& event : events) survey.note(event);
  }
  const Recording empty = empty_kineto(input, survey);
  if (!survey.has_addresses()) return empty;
  for (EarlierByDevice earlier;;) {
    KinetoTraces traces(input, options, survey, earlier, {});
    for (const KinetoEvent& event : events) traces.take(event);
    auto better = traces.earlier();
    if (!better) {
      Recording recording = empty;
      traces.finish(recording);
      return recording;
    }
    earlier = std::move(*better);
  }
}

/// The file is read at least twice: what was there before, and which devices there are, shows at
/// its end.
bool stream_kineto(const Input& input, const ReadOptions& options, const BeginEvents& begin) {
  KinetoSurvey survey(options);
  Recording recording;
  EarlierByDevice earlier;
  DeviceNumbers numbers;
  for (bool first = true;; first = false) {
    KinetoTraces traces(input, options, survey, earlier, numbers.counting());
    for_each_kineto_event(input, [&](const KinetoEvent& event) {
      if (first) survey.note(event);
      traces.take(event);
    });
    if (!survey.is_ordered() || !survey.has_addresses()) return false;
    recording = empty_kineto(input, survey);
    Recording ignored;
    traces.finish(ignored);
    auto better = traces.earlier();
    if (!better) break;
    earlier = std::move(*better);
  }
  if (numbers.empty()) return false;
  KinetoTraces traces(input, options, survey, earlier, numbers.handing_on(begin));
  for_each_kineto_event(input, [&](const KinetoEvent& event) { traces.take(event); });
  traces.finish(recording);
  numbers.finish(recording);
  return true;
}

}  // namespace

/// Traces of PyTorch's profiler with profile_memory=True: a trace for each device, the host's own
/// among them. Without addresses there is none, and the recording says why.
ReaderInfo kineto_reader() {
  return {.name = "kineto",
          .summary = "A trace of PyTorch's profiler (Kineto), recorded with profile_memory=True.",
          .recognises = is_kineto,
          .read = read_kineto,
          .stream = stream_kineto,
          .has_processes = true};
}

}  // namespace memreplay
