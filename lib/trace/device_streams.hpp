#pragma once

#include <cstddef>
#include <functional>
#include <map>

#include "trace/event_sink.hpp"
#include "trace/gate.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// By device: where its events go.
using BeginDevice = std::function<EventSink&(int device)>;

/// Where the events of one device go, as long as `begin` is there; empty where that is.
inline BeginEvents begin_of(const BeginDevice& begin, int device) {
  if (!begin) return {};
  return [&begin, device]() -> EventSink& { return begin(device); };
}

/// Takes events, and keeps nothing.
class ForgottenEvents final : public EventSink {
 public:
  void add(std::size_t, const EventColumns&) override {}
  void finish(const Recording&) override {}
};

/// Hands on the events of a log of several devices, under the numbers that its traces get: a first
/// reading says which devices have events, the next one hands them on.
class DeviceNumbers {
 public:
  /// For the first reading, which may be made anew.
  BeginDevice counting() {
    numbers_.clear();
    return [this](int device) -> EventSink& {
      numbers_[device] = 0;
      return nowhere_;
    };
  }
  bool empty() const { return numbers_.empty(); }
  /// For the last reading.
  BeginDevice handing_on(const BeginEvents& begin) {
    std::size_t next = 0;
    for (auto& [device, number] : numbers_) number = next++;
    return [this, begin](int device) -> EventSink& {
      if (sink_ == nullptr) sink_ = &begin();
      return devices_.try_emplace(device, numbers_.at(device), *sink_).first->second;
    };
  }
  /// After the last reading. Throws InputError, as check_recording does.
  void finish(const Recording& recording) const {
    check_recording(recording);
    sink_->finish(recording);
  }

 private:
  /// Gives the events of one device their number; the recording goes another way.
  class Numbered final : public EventSink {
   public:
    Numbered(std::size_t number, EventSink& sink) : number_(number), sink_(sink) {}
    void add(std::size_t, const EventColumns& events) override { sink_.add(number_, events); }
    void finish(const Recording&) override {}

   private:
    std::size_t number_;
    EventSink& sink_;
  };

  std::map<int, std::size_t> numbers_;  ///< by device with events
  std::map<int, Numbered> devices_;
  ForgottenEvents nowhere_;
  EventSink* sink_ = nullptr;
};

}  // namespace memreplay
