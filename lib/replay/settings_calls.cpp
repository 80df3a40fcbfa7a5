#include "replay/settings_calls.hpp"

#include "strategy/torch/allocator.hpp"

namespace memreplay {

SettingsCaller::SettingsCaller(const std::vector<SettingsCall>& calls, Strategy& strategy,
                               ReplayObserver* next)
    : calls_(calls), strategy_(strategy), next_(next) {
  call_before(0);
}

void SettingsCaller::on_start_block(Slot slot, const Placement& block) {
  if (next_ != nullptr) next_->on_start_block(slot, block);
}

void SettingsCaller::on_start(const EventState& state, const Strategy& strategy) {
  if (next_ != nullptr) next_->on_start(state, strategy);
}

void SettingsCaller::on_late_completion(std::uint64_t event, const Placement& block) {
  if (next_ != nullptr) next_->on_late_completion(event, block);
}

void SettingsCaller::on_event(const EventState& state, const Strategy& strategy) {
  if (next_ != nullptr) next_->on_event(state, strategy);
  call_before(state.event + 1);
}

void SettingsCaller::call_before(std::uint64_t event) {
  for (; made_ < calls_.size() && calls_[made_].event <= event; ++made_) {
    dynamic_cast<torch::Allocator&>(strategy_).change_settings(calls_[made_].settings);
  }
}

}  // namespace memreplay
