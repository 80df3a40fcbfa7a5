#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/page/column.hpp"
#include "analysis/page/trace_picture.hpp"
#include "device/watch/device_log.hpp"
#include "replay/replay.hpp"

namespace memreplay {

/// Where a strategy placed every block of a TracePicture, and what it held of the device.
struct PlacedBlocks {
  bool keeps_places = true;  ///< false: blocks are moved about, and nothing follows
  Address base = 0;          ///< addresses count from here …
  Bytes unit = 1;            ///< … in these
  // One entry for every block, by number.
  Column places;   ///< address + 1; 0: it has none
  Column charges;  ///< signed; of blocks with a place: charged - requested bytes
  // Regions from before the trace, then what was asked of the device up to the window's end.
  Column region_events;  ///< steps
  Column region_ops;     ///< bytes: Op of a driver event
  Column region_addresses;
  Column region_bytes;
  // Where the bytes held became others, up to the window's end. The first: before the trace.
  Column reserved_events;  ///< steps
  Column reserved_bytes;   ///< steps
  // Where more than before and after was held during an event, and it was a new peak.
  Column within_events;  ///< steps
  Column within_bytes;   ///< steps
  // Completions of frees that came later than the trace has them.
  Column late_events;  ///< steps
  Column late_blocks;  ///< numbers
};

/// Writes down where blocks are placed while a replay runs. O(1) per event.
class PlaceRecorder final : public ReplayObserver {
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
  };
  struct Held {
    std::uint64_t event = 0;
    Bytes bytes = 0;
  };

  void begin_window();
  void follow_block(const EventState& state);
  void follow_device(const EventState& state);
  void find_unit();

  const Trace& trace_;
  const EventWindow window_;
  const std::vector<Slot>& early_;
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
