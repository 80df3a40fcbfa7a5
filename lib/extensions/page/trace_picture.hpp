#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "device/watch/heard_device.hpp"
#include "extensions/page/answer.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// At most `most` events: up to a tenth after the first refused request of the recording, or after
/// the requested peak, and the rest before it. O(events).
EventWindow window_of_interest(const Trace& trace, std::uint64_t most);

/// O(events + stacks).
TracePicture picture_of(const Subject& subject, EventWindow window);

/// Writes down where blocks are placed while a replay runs. O(1) per event.
class PlaceRecorder final : public Watcher {
 public:
  /// All outlive this; `log` is of the device that is replayed on.
  PlaceRecorder(const Trace& trace, const TracePicture& picture, const DeviceLog& log);

  void on_start_block(Slot slot, const Placement& block) override;
  void on_start(const EventState& state, const Strategy& strategy) override;
  void on_late_completion(std::uint64_t event, const Placement& block) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

  /// To be called once, when the replay is over.
  PlacedBlocks finish();

 private:
  struct Place {
    std::optional<Address> address;
    Bytes charged = 0;
    Bytes requested = 0;
  };
  struct Region {
    std::uint64_t event = 0;
    DeviceEvent what;
    std::uint64_t lane = 0;  ///< number + 1; 0: not known
  };
  struct Held {
    std::uint64_t event = 0;
    Bytes bytes = 0;
  };

  void begin_window();
  void follow_block(const EventState& state);
  void follow_device(const EventState& state);
  void find_unit();
  std::uint64_t lane_number(const StreamPool& lane) const;

  const Trace& trace_;
  const EventWindow window_;
  const std::vector<Slot>& early_;
  const std::vector<StreamPool>& lanes_;
  const DeviceLog& log_;
  std::size_t device_events_ = 0;               ///< seen
  std::vector<Place> by_slot_;                  ///< what lies there now, or lay there last
  std::vector<std::uint64_t> block_of_slot_;    ///< in the window
  std::vector<Place> blocks_;                   ///< by number
  std::map<Address, std::uint64_t> completes_;  ///< block whose completion comes late, by address
  std::vector<Region> regions_;
  std::vector<Held> reserved_;
  std::vector<Held> within_;
  Bytes peak_ = 0;
  PlacedBlocks placed_;
};

}  // namespace memreplay
