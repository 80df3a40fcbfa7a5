#pragma once

#include <optional>
#include <set>
#include <vector>

#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// What stays reserved when pools sleep, and when they wake: their physical memory is returned,
/// their blocks keep their addresses. A marker "sleep" or "wake" names the pool. Pools of which a
/// pluggable allocator may have returned the memory unseen sleep but for requests in them. O(state)
/// each, and for each change of what is reserved in between.
class SleepWatch final : public Watcher {
 public:
  /// `device` is the one that is replayed on, where it is simulated: others hold what sleeps, too;
  /// null. `room` is what it has; unset: it is endless. `unseen`: also pools that may have slept.
  /// `subject` and `device` outlive this.
  SleepWatch(const Subject& subject, SimulatedDevice* device, std::optional<Bytes> room,
             bool unseen);

  /// Whether pools may sleep in the recording.
  bool is_needed() const { return sleep_ != 0 || !unseen_.empty(); }
  void on_event(const EventState& state, const Strategy& strategy) override;
  const std::vector<PoolSleep>& sleeps() const { return sleeps_; }

 private:
  void note(PoolSleep sleep, Bytes reserved);
  bool wakes_unseen(std::uint64_t event);
  Bytes bytes_asleep(const Strategy& strategy) const;

  const Trace& trace_;
  SimulatedDevice* device_;
  std::optional<Bytes> room_;
  std::uint32_t sleep_ = 0;  ///< their texts; 0: there are none
  std::uint32_t wake_ = 0;
  std::set<PoolIndex> asleep_;
  std::set<PoolIndex> unseen_;  ///< may sleep without a marker
  PoolIndex awake_ = 0;         ///< the one of these that does not; 0: none
  Bytes reserved_ = 0;          ///< when what is asleep was last measured
  std::vector<PoolSleep> sleeps_;
};

/// One line on all of them; empty where none slept.
std::string sleep_remark(const std::vector<PoolSleep>& sleeps);

}  // namespace memreplay
