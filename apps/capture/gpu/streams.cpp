#include <algorithm>
#include <atomic>

#include "answers.hpp"
#include "device/host/pointer.hpp"
#include "machine.hpp"
#include "runtime.hpp"

// Streams and events. Work takes no time; with a lag it is complete only after so many later
// pieces of work, or when somebody waits for it. And captures of graphs, which follow events.
namespace memreplay::gpu {
namespace {

struct Capture {
  unsigned long long id;
  Handle graph;
};

struct Event {
  Stream stream = nullptr;
  std::uint64_t after = 0;  ///< pieces of work when it was recorded
  bool recorded = false;
  unsigned long long capture = 0;  ///< in which it was recorded; 0: none
};

struct Streams {
  std::mutex mutex;
  std::unordered_map<Handle, Event> events;
  std::unordered_map<Stream, std::uint64_t> done;  ///< pieces of work that somebody waited for
  std::uint64_t all_done = 0;
  std::unordered_map<Stream, Capture> captures;
  unsigned long long captures_begun = 0;
  std::uintptr_t next_event = 0x2000'0000;
  std::uintptr_t next_stream = 0x3000'0000;
  std::uintptr_t next_graph = 0x4000'0000;
};

Streams& streams() {
  static Streams& the_only_one = *new Streams;
  return the_only_one;
}

std::atomic<std::uint64_t> work = 0;

bool is_done(const Streams& all, const Event& event) {
  if (!event.recorded || all.all_done > event.after) return true;
  const auto waited = all.done.find(event.stream);
  if (waited != all.done.end() && waited->second > event.after) return true;
  return work >= event.after + settings().lag;
}

Status create_stream(Stream* stream) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  *stream = pointer_to(all.next_stream += 0x100);
  return kSuccess;
}

/// `dependencies` and their `count` are those of the capture's last node: none here.
Status capture_info(Stream stream, int* status, unsigned long long* id, Handle* graph,
                    const Handle** dependencies, std::size_t* count) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const auto capture = all.captures.find(stream);
  const bool active = capture != all.captures.end();
  if (status) *status = active ? 1 : 0;
  if (id) *id = active ? capture->second.id : 0;
  if (graph) *graph = active ? capture->second.graph : nullptr;
  if (dependencies) *dependencies = nullptr;
  if (count) *count = 0;
  return kSuccess;
}

Status begin_capture(Stream stream, Handle graph) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  all.captures[stream] = {++all.captures_begun, graph ? graph : pointer_to(all.next_graph += 0x10)};
  return kSuccess;
}

std::atomic<std::int64_t> workspace_of_last_engine = 0;

/// Work takes no time, and a millisecond where it is measured; with benchmark=least an engine takes
/// the longer the more it asked for.
Status elapsed(float* milliseconds) {
  const float kib = static_cast<float>(workspace_of_last_engine) / 1024;
  *milliseconds = settings().least_engine ? 1 + kib : 1;
  return kSuccess;
}

}  // namespace

void engine_was_executed(std::int64_t workspace) { workspace_of_last_engine = workspace; }

void work_was_launched() { work.fetch_add(1, std::memory_order_relaxed); }

void everything_is_done() {
  const std::lock_guard lock(streams().mutex);
  streams().all_done = work + 1;
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;
using memreplay::pointer_to;

#pragma GCC visibility push(default)
extern "C" {

Status cudaStreamCreate(Stream* stream) { return create_stream(stream); }
Status cudaStreamCreateWithFlags(Stream* stream, unsigned) { return create_stream(stream); }
Status cudaStreamCreateWithPriority(Stream* stream, unsigned, int) { return create_stream(stream); }
Status cudaStreamDestroy(Stream) { return kSuccess; }
Status cudaStreamQuery(Stream) { return kSuccess; }

Status cudaStreamSynchronize(Stream stream) {
  const std::lock_guard lock(streams().mutex);
  streams().done[stream] = work + 1;
  return kSuccess;
}

Status cudaDeviceSynchronize() {
  everything_is_done();
  return kSuccess;
}

Status cudaStreamGetPriority(Stream, int* priority) {
  *priority = 0;
  return kSuccess;
}

Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return kSuccess;
}

Status cudaEventCreateWithFlags(Handle* event, unsigned) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  *event = pointer_to(all.next_event += 0x10);
  all.events[*event] = {};
  return kSuccess;
}

Status cudaEventCreate(Handle* event) { return cudaEventCreateWithFlags(event, 0); }

Status cudaEventDestroy(Handle event) {
  const std::lock_guard lock(streams().mutex);
  streams().events.erase(event);
  return kSuccess;
}

Status cudaEventRecord(Handle event, Stream stream) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const auto capture = all.captures.find(stream);
  all.events[event] = {stream, work, true, capture == all.captures.end() ? 0 : capture->second.id};
  return kSuccess;
}

Status cudaEventRecordWithFlags(Handle event, Stream stream, unsigned) {
  return cudaEventRecord(event, stream);
}

Status cudaEventQuery(Handle event) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const Event& asked = all.events[event];
  if (asked.capture != 0) return failed(kCaptureUnsupported);
  return is_done(all, asked) ? kSuccess : failed(kNotReady);
}

Status cudaEventSynchronize(Handle event) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const Event& asked = all.events[event];
  if (!asked.recorded) return kSuccess;
  std::uint64_t& done = all.done[asked.stream];
  done = std::max(done, asked.after + 1);
  return kSuccess;
}

Status cudaEventElapsedTime(float* milliseconds, Handle, Handle) { return elapsed(milliseconds); }

Status cudaEventElapsedTime_v2(float* milliseconds, Handle, Handle) {
  return elapsed(milliseconds);
}

/// A stream that waits for an event of a capture takes part in it.
Status cudaStreamWaitEvent(Stream stream, Handle event, unsigned) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const unsigned long long id = all.events[event].capture;
  if (id == 0 || all.captures.contains(stream)) return kSuccess;
  const auto origin = std::ranges::find_if(
      all.captures, [&](const auto& capture) { return capture.second.id == id; });
  if (origin != all.captures.end()) {
    const Capture joined = origin->second;
    all.captures.emplace(stream, joined);
  }
  return kSuccess;
}

Status cudaStreamBeginCapture(Stream stream, int) { return begin_capture(stream, nullptr); }

Status cudaStreamBeginCaptureToGraph(Stream stream, Handle graph, const Handle*, const void*,
                                     std::size_t, int) {
  return begin_capture(stream, graph);
}

Status cudaStreamEndCapture(Stream stream, Handle* graph) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const auto capture = all.captures.find(stream);
  if (graph) *graph = capture == all.captures.end() ? nullptr : capture->second.graph;
  if (capture == all.captures.end()) return failed(kIllegalState);
  const unsigned long long id = capture->second.id;
  std::erase_if(all.captures, [&](const auto& entry) { return entry.second.id == id; });
  return kSuccess;
}

Status cudaStreamIsCapturing(Stream stream, int* status) {
  return capture_info(stream, status, nullptr, nullptr, nullptr, nullptr);
}

Status cuStreamIsCapturing(Stream stream, int* status) {
  return cudaStreamIsCapturing(stream, status);
}

/// CUDA 13 has put the data of edges before the count.
Status cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Handle* graph,
                                const Handle** dependencies, const void** edges,
                                std::size_t* count) {
  if (edges) *edges = nullptr;
  return capture_info(stream, status, id, graph, dependencies, count);
}

Status cudaStreamGetCaptureInfo_v2(Stream stream, int* status, unsigned long long* id,
                                   Handle* graph, const Handle** dependencies, std::size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, count);
}

Status cudaStreamGetCaptureInfo_v3(Stream stream, int* status, unsigned long long* id,
                                   Handle* graph, const Handle** dependencies, const void** edges,
                                   std::size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, edges, count);
}

Status cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;  // cudaStreamCaptureModeGlobal
  std::swap(*mode, current);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
