#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "device/watch/heard_device.hpp"
#include "replay/replay.hpp"

namespace memreplay {

/// Collects rows and hands them on in large pieces; the last one where `flush` is called, as that
/// can fail.
class RowBuffer {
 public:
  explicit RowBuffer(std::ostream& out) : out_(out) {}

  std::string& text() { return text_; }
  void end_row() {
    if (text_.size() >= kPiece) flush();
  }
  void flush();

 private:
  static constexpr std::size_t kPiece = 1 << 16;

  std::ostream& out_;
  std::string text_;
};

/// `--placements`: a row for every event that a replay acts upon.
class PlacementRows final : public Watcher {
 public:
  PlacementRows(const Trace& trace, std::ostream& out);
  void on_event(const EventState& state, const Strategy& strategy) override;
  void finish() { rows_.flush(); }

 private:
  const Trace& trace_;
  std::vector<std::uint64_t> id_of_slot_;  ///< kNoId: from before the recording
  std::uint64_t allocations_ = 0;
  RowBuffer rows_;
};

/// `--timeline`: the curves after every event that a replay acts upon.
class TimelineRows final : public Watcher {
 public:
  TimelineRows(const Trace& trace, std::ostream& out);
  void on_event(const EventState& state, const Strategy& strategy) override;
  void finish() { rows_.flush(); }

 private:
  const Trace& trace_;
  RowBuffer rows_;
};

/// `--device-events`: what a strategy asked of the device, with the event that led to it.
class DeviceEventRows final : public Watcher {
 public:
  DeviceEventRows(const DeviceLog& log, std::ostream& out);
  void on_event(const EventState& state, const Strategy& strategy) override;
  void finish() { rows_.flush(); }

 private:
  const DeviceLog& log_;
  std::size_t written_ = 0;
  RowBuffer rows_;
};

/// `--segments`: what a strategy holds, by address.
void write_segments(const Trace& trace, const MemoryState& state, std::ostream& out);

}  // namespace memreplay
