#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/replay.hpp"

namespace memreplay {

/// What a strategy holds after every event, to be laid beside the same on another device: 16 bytes
/// an event.
class HoldingLog final : public Watcher {
 public:
  struct Holding {
    Bytes allocated = 0;
    Bytes reserved = 0;

    friend bool operator==(const Holding&, const Holding&) = default;
  };

  void on_event(const EventState& state, const Strategy&) override {
    events_.push_back({state.allocated, state.reserved});
  }

  /// After event number i.
  const std::vector<Holding>& holdings() const { return events_; }

 private:
  std::vector<Holding> events_;
};

/// The first event after which they differ; unset: never, as far as both go.
inline std::optional<std::uint64_t> first_difference(const HoldingLog& a, const HoldingLog& b) {
  const std::size_t events = std::min(a.holdings().size(), b.holdings().size());
  for (std::size_t event = 0; event < events; ++event) {
    if (a.holdings()[event] != b.holdings()[event]) return event;
  }
  return std::nullopt;
}

}  // namespace memreplay
