#include "device/address_space.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 44;
constexpr Address kEnd = Address{1} << 63;
constexpr Address kTopOfDriver = Address{1} << 47;  ///< end of a process's addresses on x86-64

// The end of the last of these ranges that has a part in [from, to); 0: none has.
Address end_in(const std::map<Address, Address>& ranges, Address from, Address to) {
  const auto behind = ranges.lower_bound(to);
  if (behind == ranges.begin()) return 0;
  const Address end = std::prev(behind)->second;
  return end > from ? end : 0;
}

}  // namespace

AddressSpace::AddressSpace(AddressPolicy policy, Bytes unit, Bytes gap)
    : policy_(policy), unit_(unit), gap_(gap), next_(kBase) {
  if (policy_ == AddressPolicy::first_fit) {
    holes_.insert({kBase, kBase + (kEnd - kBase) / unit_ * unit_});
  }
  if (policy_ == AddressPolicy::cuda_linux) {
    driver_.emplace(kTopOfDriver);
    next_ = kTopOfDriver;
  }
}

std::optional<Address> AddressSpace::next_upward(Bytes size) const {
  Address at = next_;
  // What was claimed above may be in the way, and what is avoided.
  while (at <= kEnd && size <= kEnd - at) {
    const Address end = std::max(end_in(taken_, at, at + size), end_in(avoided_, at, at + size));
    if (end <= at) return at;
    at = kBase + round_up(end - kBase, unit_);
  }
  return std::nullopt;
}

bool AddressSpace::shares(Bytes size) const {
  return driver_ && unit_ == SharedPieces::kPiece && gap_ == 0 && size != 0 && size < unit_;
}

std::optional<Bytes> AddressSpace::shared_charge(Bytes size) const {
  return shares(size) ? std::optional(driver_->charge(size)) : std::nullopt;
}

std::optional<Address> AddressSpace::take(Bytes size, AddressPurpose use) {
  if (size > kEnd - kBase || gap_ > kEnd - kBase - size) return std::nullopt;
  const Bytes whole = round_up(std::max<Bytes>(size + gap_, 1), unit_);
  std::optional<Address> at;
  if (driver_ && use == AddressPurpose::region) {
    if (std::exchange(driver_is_fresh_, false)) driver_->take_context();
    at = driver_->take(shares(size) ? size : whole);
  }
  if (at) return at;
  if (goes_upward()) {
    at = next_upward(whole);
    if (at) next_ = *at + whole;
  } else if (const auto hole = holes_.lowest(whole)) {
    at = hole->from;
    holes_.erase({*at, *at + whole});
  }
  if (at && policy_ == AddressPolicy::first_fit) taken_.emplace(*at, *at + whole);
  return at;
}

void AddressSpace::claim(Address at, Bytes size, AddressPurpose use) {
  driver_is_fresh_ = false;
  if (driver_ && use == AddressPurpose::region && at < kTopOfDriver && size <= kTopOfDriver - at) {
    return driver_->claim(at, size);
  }
  if (driver_ && at < kTopOfDriver) driver_->go_below(at);
  const auto after = taken_.upper_bound(at);
  const bool overlaps = (after != taken_.end() && after->first - at < size) ||
                        (after != taken_.begin() && std::prev(after)->second > at);
  const Address first = driver_ ? kTopOfDriver : kBase;
  // Upward ones are given from `first` on, if any was.
  const bool gone = goes_upward() && next_ > first && at < next_ && at + size > first;
  if (size == 0 || at + size < at || overlaps || gone) {
    throw std::logic_error("addresses claimed that are taken already");
  }
  taken_.emplace(at, at + size);
  fill_holes(at, at + size);
}

void AddressSpace::avoid(Address at, Bytes size) {
  const Address to = at + std::min(size, kEnd - std::min(at, kEnd));
  if (goes_upward()) avoided_.emplace(at, to);
  fill_holes(at, to);
}

void AddressSpace::go_on_above(Address at) {
  if (at >= kEnd / 2 || at <= next_) return;
  next_ = kBase + round_up(at - kBase, unit_);
}

void AddressSpace::fill_holes(Address at, Address end) {
  while (const auto hole = holes_.above(at)) {
    if (hole->from >= end) break;
    const Address from = std::max(hole->from, at);
    const Address to = std::min(hole->to, end);
    holes_.erase({hole->from + (from - hole->from) / unit_ * unit_,
                  hole->from + round_up(to - hole->from, unit_)});
  }
}

Bytes AddressSpace::give_back(Address at) {
  const auto place = taken_.find(at);
  if (place == taken_.end() && driver_ && at < kTopOfDriver) {
    return driver_->give_back(at) ? SharedPieces::kPiece : 0;
  }
  if (place == taken_.end() && goes_upward()) return 0;
  if (place == taken_.end()) throw std::logic_error("addresses given back that were not taken");
  if (policy_ == AddressPolicy::first_fit && place->second > kBase && at < kEnd) {
    // A range that was claimed need not be in whole units, and may share one with a neighbour.
    const auto next = std::next(place);
    Address from = at <= kBase ? kBase : kBase + (at - kBase) / unit_ * unit_;
    Address to = kBase + round_up(std::min(place->second, kEnd) - kBase, unit_);
    if (place != taken_.begin() && std::prev(place)->second > from) {
      from = kBase + round_up(std::prev(place)->second - kBase, unit_);
    }
    if (next != taken_.end() && next->first < to) {
      to = kBase + (next->first - kBase) / unit_ * unit_;
    }
    to = std::min(to, kBase + (kEnd - kBase) / unit_ * unit_);
    if (from < to) holes_.insert({from, to});
  }
  taken_.erase(place);
  return 0;
}

}  // namespace memreplay
