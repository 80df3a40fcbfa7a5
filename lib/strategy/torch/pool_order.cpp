#include "strategy/torch/pool_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace memreplay::torch {
namespace {

constexpr std::uint64_t kOfGoldenRatio = 11400714819323198485U;
constexpr std::size_t kFewestSlots = 4;
/// From here on pools that lie far from their slots are no reason for more of them. Ids that were
/// chosen for it could otherwise take all memory.
constexpr std::size_t kManySlots = std::size_t{1} << 17;

}  // namespace

void PoolOrder::insert(PoolIndex pool, PoolId id) {
  place({.number = id.first != 0 ? id.first : id.second, .pool = pool});
}

void PoolOrder::place(Entry entry) {
  if (2 * (count_ + 1) > wanted_) grow();
  const int bits = std::countr_zero(wanted_);
  const int most_distance = wanted_ < kManySlots ? std::max(4, bits) : INT32_MAX;
  std::size_t slot = (kOfGoldenRatio * entry.number) >> (64 - bits);
  entry.distance = 0;
  const auto go_on = [&] {
    ++slot;
    ++entry.distance;
  };
  while (at(slot).distance >= entry.distance) go_on();
  const std::size_t own_slot = slot;
  // Who is nearer to the wanted slot makes room, and goes on.
  while (entry.distance < most_distance) {
    if (at(slot).distance < entry.distance) {
      std::swap(at(slot), entry);
      if (!entry.is_here()) {
        ++count_;
        return;
      }
    }
    go_on();
  }
  // Too far: all are placed anew, the one that came last.
  if (slot != own_slot) {
    std::swap(at(own_slot).number, entry.number);
    std::swap(at(own_slot).pool, entry.pool);
  }
  grow();
  place(entry);
}

void PoolOrder::grow() {
  const std::vector<Entry> before = std::exchange(slots_, {});
  wanted_ = std::max(kFewestSlots, 2 * wanted_);
  count_ = 0;
  for (const Entry& entry : before) {
    if (entry.is_here()) place(entry);
  }
}

PoolOrder::Entry& PoolOrder::at(std::size_t slot) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  return slots_[slot];
}

void PoolOrder::erase(PoolIndex pool) {
  auto gone = std::ranges::find_if(
      slots_, [&](const Entry& entry) { return entry.is_here() && entry.pool == pool; });
  if (gone == slots_.end()) return;
  --count_;
  // The ones after it that are not where they want to be come nearer by one.
  for (auto next = gone + 1; next != slots_.end() && next->distance > 0; ++gone, ++next) {
    *gone = *next;
    --gone->distance;
  }
  *gone = {};
}

std::vector<PoolIndex> PoolOrder::pools() const {
  std::vector<PoolIndex> pools;
  for (const Entry& entry : slots_) {
    if (entry.is_here()) pools.push_back(entry.pool);
  }
  return pools;
}

}  // namespace memreplay::torch
