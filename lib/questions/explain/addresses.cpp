#include "questions/explain/addresses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "strategy/torch/allocator.hpp"

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

Bytes granule_of(bool small_pool, const torch::Settings& settings) {
  return small_pool ? torch::kSmallBuffer : settings.large_segment_size;
}

/// Mapped runs that share reservations, by address.
using Runs = std::vector<const SegmentInfo*>;
/// By stream, pool and whether it is for small blocks.
using RunsByLane = std::map<std::tuple<StreamIndex, PoolIndex, bool>, Runs>;

RunsByLane runs_of(const MemoryState& memory) {
  RunsByLane lanes;
  for (const SegmentInfo& segment : memory.segments) {
    if (!segment.expandable) continue;
    lanes[{segment.stream, segment.pool, segment.small_pool}].push_back(&segment);
  }
  return lanes;
}

// Where reservations begin at the latest: as few of them as hold the runs.
std::vector<Address> reservations_of(const Runs& runs, Bytes length) {
  std::vector<Address> begins;
  for (const SegmentInfo* run : runs) {
    if (begins.empty() || run->address + run->size > begins.back() + length) {
      begins.push_back(run->address);
    }
  }
  return begins;
}

// The longest stretch of [from, to) in which no block is in use, mapped or not.
Bytes longest_stretch(const Runs& runs, Address from, Address to) {
  Bytes longest = 0;
  Address begin = from;
  for (const SegmentInfo* run : runs) {
    for (const BlockInfo& block : run->blocks) {
      const bool outside = block.address < from || block.address >= to;
      if (outside || block.state == BlockState::free) continue;
      longest = std::max(longest, block.address - begin);
      begin = block.address + block.size;
    }
  }
  return std::max(longest, to - std::min(to, begin));
}

}  // namespace

std::optional<AddressUse> address_use(const Recording& recording, const Trace& trace,
                                      const Moment& moment, const torch::Settings& settings,
                                      Bytes total) {
  AddressUse use;
  std::set<std::pair<int, StreamIndex>> streams;
  const auto count = [&](const MemoryState& memory, int gpu) {
    for (const auto& [lane, runs] : runs_of(memory)) {
      const Bytes length =
          torch::reservation_size(settings, total, granule_of(std::get<bool>(lane), settings));
      const auto found = reservations_of(runs, length).size();
      use.reservations += found;
      use.reserved += found * length;
      streams.insert({gpu, std::get<0>(lane)});
    }
  };
  count(moment.memory, trace.gpu);
  for (const Trace& other : recording.traces) {
    if (other.gpu != trace.gpu && other.gpu >= 0) count(other.end, other.gpu);
  }
  use.streams = streams.size();
  if (use.reservations == 0) return std::nullopt;
  return use;
}

std::optional<Bytes> reservation_for(StreamPool lane, Bytes size, const Moment& moment,
                                     const torch::Settings& settings, Bytes total) {
  if (!settings.expandable_segments) return std::nullopt;
  const bool small_pool = size <= torch::kSmallSize;
  const Bytes length = torch::reservation_size(settings, total, granule_of(small_pool, settings));
  const RunsByLane lanes = runs_of(moment.memory);
  const auto own = lanes.find({lane.stream, lane.pool, small_pool});
  if (own == lanes.end()) {
    // The segments of a MemPool with an allocator of its own are plain ones.
    const bool plain = lane.pool != 0 && std::ranges::any_of(moment.memory.segments, [&](auto& s) {
                         return s.pool == lane.pool && !s.expandable;
                       });
    return plain ? std::nullopt : std::optional(length);
  }
  for (const Address from : reservations_of(own->second, length)) {
    if (longest_stretch(own->second, from, from + length) >= size) return std::nullopt;
  }
  return length;
}

Pins pins_of(const Moment& moment, const Places& places, PoolIndex pool, Bytes expandable_granule) {
  PinCounter counter(moment, places);
  Pins pins;
  for (const SegmentInfo& segment : moment.memory.segments) {
    if (segment.pool != 0 && segment.pool != pool) continue;
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
