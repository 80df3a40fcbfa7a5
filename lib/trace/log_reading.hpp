#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trace/event_sink.hpp"
#include "trace/gate.hpp"
#include "trace/pointer_log.hpp"
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

// For a Reader(input, options, begin), or Reader(input, begin), with `read_all()` and `take()`.

template <typename Reader>
std::unique_ptr<Reader> reader_of(const Input& input, const ReadOptions& options,
                                  const BeginEvents& begin) {
  if constexpr (std::is_constructible_v<Reader, const Input&, const BeginEvents&>) {
    return std::make_unique<Reader>(input, begin);
  } else {
    return std::make_unique<Reader>(input, options, begin);
  }
}

/// Hands the events on, and tells whether there were any.
template <typename Reader>
bool stream_as_read(const Input& input, const ReadOptions& options, const BeginEvents& begin) {
  return reader_of<Reader>(input, options, begin)->read_all();
}

/// Hands the events on.
template <typename Reader>
Recording read_and_hand_on(const Input& input, const ReadOptions& options,
                           const BeginEvents& begin) {
  const auto reader = reader_of<Reader>(input, options, begin);
  reader->read_all();
  return reader->take();
}

/// Keeps them.
template <typename Reader>
Recording read_and_keep(const Input& input, const ReadOptions& options) {
  return read_and_hand_on<Reader>(input, options, {});
}

// A log whose frees say sizes is read by a Reader(input, begin, earlier) with `read_all()`,
// `earlier()` and `take()`. Where it frees blocks that were there before it, which is known at its
// end, it is read again with those ahead of all else.

template <typename Reader>
Recording read_log(const Input& input, const BeginEvents& begin = {}) {
  for (EarlierPointers earlier;;) {
    Reader reader(input, begin, earlier);
    reader.read_all();
    EarlierPointers better = reader.earlier();
    if (!better) return reader.take();
    earlier = std::move(better);
  }
}

/// As read_log, for events that leave as they come.
template <typename Reader>
bool stream_log(const Input& input, const BeginEvents& begin) {
  ForgottenEvents nowhere;
  for (EarlierPointers earlier;;) {
    Reader reader(
        input, [&]() -> EventSink& { return nowhere; }, earlier);
    if (!reader.read_all()) return false;
    EarlierPointers better = reader.earlier();
    if (!better) return Reader(input, begin, earlier).read_all();
    earlier = std::move(better);
  }
}

/// The device of a recorder that writes a file for each: 3 of "rmm.dev3.csv",
/// "mem_log_dev3.txt.gz". 0 where the name does not say, or says more than there are.
int device_in_name(std::string_view path);

}  // namespace memreplay
