#include "analysis/explain/pins.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace memreplay {
namespace {

class PinCounter {
 public:
  PinCounter(const Moment& moment, const Places& places) : places_(places) {
    for (std::size_t age = 0; age < moment.live.size(); ++age) {
      ages_[moment.live[age].slot] = age;
    }
    live_ = &moment.live;
  }

  // Blocks of no known slot (waiting for a stream, say) count as the youngest.
  std::size_t age_of(const BlockInfo& block) const {
    const auto found = ages_.find(block.slot);
    return found == ages_.end() ? ages_.size() : found->second;
  }

  void count(Bytes free, std::size_t oldest_age, std::uint64_t segments) {
    Pin& pin = pin_of(oldest_age);
    pin.pinned += free;
    pin.segments += segments;
  }
  void count_block(const BlockInfo& block) { ++pin_of(age_of(block)).blocks; }

  std::vector<Pin> by_place() const {
    std::vector<std::pair<std::size_t, Pin>> found;
    for (const auto& [place, aged] : pins_) {
      if (aged.second.pinned > 0) found.push_back(aged);
    }
    std::ranges::stable_sort(found, {}, &std::pair<std::size_t, Pin>::first);
    std::vector<Pin> pins;
    for (auto& [age, pin] : found) pins.push_back(std::move(pin));
    return pins;
  }

 private:
  Pin& pin_of(std::size_t age) {
    const bool known = age < live_->size();
    const std::string& place = known ? places_.name_of((*live_)[age].asker) : kOfNobody;
    auto& [oldest, pin] = pins_.try_emplace(place, age, Pin{place}).first->second;
    if (age <= oldest) {
      oldest = age;
      pin.oldest = known ? (*live_)[age].born : std::nullopt;
    }
    return pin;
  }

  inline static const std::string kOfNobody{kWaiting};

  const Places& places_;
  const std::vector<LiveBlock>* live_;
  std::unordered_map<Slot, std::size_t> ages_;
  std::map<std::string, std::pair<std::size_t, Pin>> pins_;  ///< by place, with its least age
};

}  // namespace

Pins pins_of(const Moment& moment, const Places& places, Bytes expandable_granule) {
  PinCounter counter(moment, places);
  Pins pins;
  for (const SegmentInfo& segment : moment.memory.segments) {
    Bytes free = 0;
    std::size_t oldest = SIZE_MAX;
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free) free += block.size;
      if (block.state != BlockState::free) oldest = std::min(oldest, counter.age_of(block));
    }
    if (free == 0) continue;
    if (oldest == SIZE_MAX) {
      pins.returnable += free;
      continue;
    }
    Bytes returnable = 0;
    if (segment.expandable) {
      const Bytes granule = segment.small_pool ? torch::kSmallBuffer : expandable_granule;
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::free) continue;
        const Bytes from = round_up(block.address - segment.address, granule);
        const Bytes to = (block.address - segment.address + block.size) / granule * granule;
        if (to > from) returnable += to - from;
      }
    }
    pins.returnable += returnable;
    if (free == returnable) continue;
    pins.pinned += free - returnable;
    counter.count(free - returnable, oldest, 1);
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::free) counter.count_block(block);
    }
  }
  pins.by_place = counter.by_place();
  return pins;
}

}  // namespace memreplay
