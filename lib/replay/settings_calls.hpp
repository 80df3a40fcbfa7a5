#pragma once

#include <cstdint>
#include <vector>

#include "replay/replay.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

/// The program passes other settings to PyTorch's allocator right before an event.
struct SettingsCall {
  std::uint64_t event = 0;
  torch::Settings settings;
};

/// Makes those calls on the strategy of a replay that it watches, and hands on to another watcher
/// what it sees.
class SettingsCaller final : public ReplayObserver {
 public:
  /// `calls` by event; `strategy` is PyTorch's allocator; `next` may be null. All outlive this.
  SettingsCaller(const std::vector<SettingsCall>& calls, Strategy& strategy, ReplayObserver* next);

  void on_start_block(Slot slot, const Placement& block) override;
  void on_start(const EventState& state, const Strategy& strategy) override;
  void on_late_completion(std::uint64_t event, const Placement& block) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

 private:
  void call_before(std::uint64_t event);

  const std::vector<SettingsCall>& calls_;
  Strategy& strategy_;
  ReplayObserver* next_;
  std::size_t made_ = 0;
};

}  // namespace memreplay
