#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/diff/answer.hpp"
#include "analysis/run/run.hpp"

namespace memreplay {

/// What is compared of a run, after every event.
class Columns final : public ReplayObserver, public RunWatcher {
 public:
  explicit Columns(std::size_t events);

  void begin_run(const Subject& subject, const Trial& trial, ObserverGroup& observers) override;
  void on_event(const EventState& state, const Strategy& strategy) override;
  void end_run(const Trial& trial) override;

  /// After the run: calls that built the start state are not the recording's.
  void leave_out_start(const Run& run);

  std::vector<Bytes> allocated;
  std::vector<Bytes> reserved;
  std::vector<std::uint64_t> calls;
  std::vector<bool> refused;
  std::uint64_t calls_before = 0;

 private:
  const DeviceUsage* device_ = nullptr;  ///< during the run
  std::uint64_t calls_at_end_ = 0;
  std::uint64_t ooms_ = 0;
};

/// Notes what is held after some events of a run that went as that of the columns did.
class HoldingsWatch final : public ReplayObserver, public RunWatcher {
 public:
  /// All arguments outlive this. The events are the keys of `seen`.
  HoldingsWatch(const Columns& columns, std::map<std::uint64_t, Holding>& seen)
      : columns_(columns), seen_(seen) {}

  void begin_run(const Subject& subject, const Trial& trial, ObserverGroup& observers) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

 private:
  const DeviceUsage* device_ = nullptr;  ///< during the run
  const Columns& columns_;
  std::map<std::uint64_t, Holding>& seen_;
};

}  // namespace memreplay
