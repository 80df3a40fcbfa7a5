// Streams and events.
#include "world.hpp"

using stand_in::called_in_context;
using stand_in::Event;
using stand_in::World;

namespace {

Event* event_of(World& w, CUevent handle) {
  const auto found = w.events.find(handle);
  if (found != w.events.end()) return &found->second;
  w.wrong("an event is used that is not there");
  return nullptr;
}

bool has_stream(World& w, CUstream stream) {
  if (w.work.has_stream(stream)) return true;
  w.wrong("a stream is used that is not there");
  return false;
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return called_in_context("cuStreamCreate", [&](World& w) {
    if (flags != CU_STREAM_NON_BLOCKING) return w.wrong("a stream that waits for the default one");
    *stream = w.new_handle<CUstream>();
    w.work.add_stream(*stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy(CUstream stream) {
  return called_in_context("cuStreamDestroy", [&](World& w) {
    if (stream == nullptr || !has_stream(w, stream)) return CUDA_ERROR_INVALID_HANDLE;
    w.work.remove_stream(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned) {
  return called_in_context("cuStreamWaitEvent", [&](World& w) {
    const Event* const event = event_of(w, handle);
    if (event == nullptr || !has_stream(w, stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (event->moment != nullptr) w.work.wait_for(stream, event->moment);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  return called_in_context("cuEventCreate", [&](World& w) {
    *handle = w.new_handle<CUevent>();
    w.events[*handle].has_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent handle) {
  return called_in_context("cuEventDestroy", [&](World& w) {
    if (event_of(w, handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    w.events.erase(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return called_in_context("cuEventRecord", [&](World& w) {
    Event* const event = event_of(w, handle);
    if (event == nullptr || !has_stream(w, stream)) return CUDA_ERROR_INVALID_HANDLE;
    event->moment = w.work.mark(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return called_in_context("cuEventSynchronize", [&](World& w) {
    const Event* const event = event_of(w, handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->moment != nullptr) w.work.reach(*event->moment);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent handle) {
  return called_in_context("cuEventQuery", [&](World& w) {
    const Event* const event = event_of(w, handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const bool reached = event->moment == nullptr || event->moment->reached;
    return reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

// Drivers keep the name without a version beside the newer one.
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) {
  return called_in_context("cuEventElapsedTime", [&](World& w) {
    const Event* const first = event_of(w, from);
    const Event* const second = event_of(w, to);
    if (first == nullptr || second == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (!first->has_time || !second->has_time || !first->moment || !second->moment) {
      return w.wrong("the time of an event that has none", CUDA_ERROR_INVALID_HANDLE);
    }
    if (!first->moment->reached || !second->moment->reached) return CUDA_ERROR_NOT_READY;
    const auto ns = static_cast<double>(second->moment->time_ns - first->moment->time_ns);
    *milliseconds = static_cast<float>(ns / 1e6);
    return CUDA_SUCCESS;
  });
}
