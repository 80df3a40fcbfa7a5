#include "replay/sleep_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "trace/markers.hpp"

namespace memreplay {
namespace {

/// 0, the empty text, where it is not among them.
std::uint32_t number_of(const std::vector<std::string>& texts, std::string_view text) {
  const auto found = std::ranges::find(texts, text);
  return found == texts.end() ? 0 : static_cast<std::uint32_t>(found - texts.begin());
}

}  // namespace

SleepWatch::SleepWatch(const Subject& subject, SimulatedDevice* device, std::optional<Bytes> room,
                       bool unseen)
    : trace_(subject.trace()), device_(device), room_(room) {
  // What an OOM says of the device's size counts what slept as held: then it stays.
  const std::vector<PluggablePool>& pools = subject.pluggable_pools();
  if (unseen && device != nullptr && !pools.empty() &&
      std::ranges::find(trace_.ops, Op::oom) == trace_.ops.end()) {
    for (const PluggablePool& pool : pools) unseen_.insert(pool.pool);
  }
  asleep_ = unseen_;
  if (trace_.tags.empty()) return;
  sleep_ = number_of(subject.recording().texts, kSleepMarker);
  wake_ = number_of(subject.recording().texts, kWakeMarker);
}

void SleepWatch::on_event(const EventState& state, const Strategy& strategy) {
  const bool marker = trace_.ops[state.event] == Op::marker;
  const std::uint32_t text = marker ? trace_.tags[state.event] : 0;
  const PoolIndex pool = marker ? trace_.lane(state.event).pool : 0;
  const bool sleeps = text != 0 && text == sleep_;
  const bool wakes = text != 0 && text == wake_ && asleep_.contains(pool);
  if (sleeps) asleep_.insert(pool);
  const bool turned = wakes_unseen(state.event + 1);
  const bool measured =
      sleeps || wakes || turned || (!asleep_.empty() && state.reserved != reserved_);
  if (!measured) return;
  reserved_ = state.reserved;
  const Bytes asleep = bytes_asleep(strategy);
  PoolSleep sleep{.event = state.event,
                  .pool = trace_.pools[turned ? awake_ : pool],
                  .wakes = wakes || turned,
                  .asleep = asleep};
  if (wakes) asleep_.erase(pool);
  if (device_ != nullptr) {
    sleep.missing = device_->let_sleep(wakes ? bytes_asleep(strategy) : asleep);
  }
  if (sleeps || wakes || (turned && sleep.missing > 0)) note(sleep, state.reserved);
}

/// Whether other pools sleep during that event than before it.
bool SleepWatch::wakes_unseen(std::uint64_t event) {
  if (unseen_.empty() || event >= trace_.size() || !is_request(trace_.ops[event])) return false;
  const PoolIndex pool = trace_.lane(event).pool;
  const PoolIndex wakes = unseen_.contains(pool) ? pool : 0;
  if (wakes == awake_) return false;
  if (awake_ != 0) asleep_.insert(awake_);
  asleep_.erase(wakes);
  awake_ = wakes;
  return true;
}

Bytes SleepWatch::bytes_asleep(const Strategy& strategy) const {
  Bytes bytes = 0;
  for (const SegmentInfo& segment : strategy.memory_state().segments) {
    if (asleep_.contains(segment.pool)) bytes += segment.size;
  }
  return bytes;
}

void SleepWatch::note(PoolSleep sleep, Bytes reserved) {
  sleep.residue = reserved - std::min(reserved, sleep.asleep);
  if (room_) sleep.free = *room_ - std::min(*room_, sleep.residue);
  if (!sleep.wakes) sleep.missing = 0;
  sleeps_.push_back(sleep);
}

std::string sleep_remark(const std::vector<PoolSleep>& sleeps) {
  if (sleeps.empty()) return {};
  const PoolSleep& first = sleeps.front();
  const PoolSleep& most = *std::ranges::max_element(sleeps, {}, &PoolSleep::residue);
  std::string text =
      fmt::format("asleep from event {} on: {} released, {} stay reserved (residue)",
                  human_count(first.event), human_size(first.asleep), human_size(first.residue));
  if (first.free) text += fmt::format(", {} free for others", human_size(*first.free));
  if (sleeps.size() > 1) {
    text +=
        fmt::format("; of {} sleeps and wakes, most stays reserved at event {}: {}",
                    human_count(sleeps.size()), human_count(most.event), human_size(most.residue));
  }
  const auto short_of = std::ranges::find_if(sleeps, [](const auto& s) { return s.missing > 0; });
  if (short_of == sleeps.end()) return text;
  return text + fmt::format("; the wake at event {} finds {} less than it needs",
                            human_count(short_of->event), human_size(short_of->missing));
}

}  // namespace memreplay
