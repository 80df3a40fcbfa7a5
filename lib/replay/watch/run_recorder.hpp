#pragma once

#include <cstddef>
#include <map>

#include "core/peaks.hpp"
#include "device/watch/heard_device.hpp"
#include "metrics/run_picture.hpp"
#include "replay/replay.hpp"

namespace memreplay {

/// Takes the picture of a replay. O(log segments) an event beside the strategy's `free_space`.
class RunRecorder final : public Watcher {
 public:
  struct Options {
    std::size_t most_points = 20'000;  ///< in each curve, and marks of each kind
    Bytes scale = 1;                   ///< as the replay's
    std::uint64_t to = UINT64_MAX;     ///< as the replay's
    bool refusals_stand = false;       ///< as the replay's
  };
  /// The strategy is over `device`; without its `log`, only segments of the beginning are recorded.
  /// All three outlive this.
  RunRecorder(const Trace& trace, const DeviceModel& device, const DeviceLog& log,
              const Options& options);

  void on_start(const EventState& state, const Strategy& strategy) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

  RunPicture picture() const;

 private:
  struct Held {
    Bytes bytes = 0;
    std::uint64_t from = 0;
  };

  void add_point(std::uint64_t moment, const EventState& state, const Strategy& strategy);
  void note_ooms(const EventState& state, const Strategy& strategy);
  void note_retries(std::uint64_t event, const Strategy& strategy);
  void follow_device(std::uint64_t moment);
  void release(Address address, Bytes bytes, std::uint64_t moment);
  void close(Address address, const Held& held, std::uint64_t moment);

  const Trace& trace_;
  const DeviceModel& device_;
  const DeviceLog& log_;
  Options options_;
  ReducedCurve requested_;
  ReducedCurve allocated_;
  ReducedCurve reserved_;
  ReducedCurve fragmentation_;
  RunPicture picture_;
  std::map<Address, Held> held_;
  std::size_t calls_seen_ = 0;
  Bytes peak_reserved_ = 0;
  Peaks peaks_;  ///< peaks of moments, with allocated bytes as `requested`
  std::uint64_t ooms_ = 0;
  std::uint64_t retries_ = 0;
};

}  // namespace memreplay
