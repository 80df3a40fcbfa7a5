#include "device/simulated_device.hpp"

#include <iterator>
#include <stdexcept>
#include <utility>

#include "core/units.hpp"

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 44;
constexpr Address kEnd = Address{1} << 63;
constexpr Address kTopOfDriver = Address{1} << 47;  ///< end of a process's addresses on x86-64
constexpr Address kTopOfHost = Address{1} << 52;    ///< a number that JSON holds exactly

// The end of the last of these ranges that has a part in [from, to); 0: none has.
Address end_in(const std::map<Address, Address>& ranges, Address from, Address to) {
  const auto behind = ranges.lower_bound(to);
  if (behind == ranges.begin()) return 0;
  const Address end = std::prev(behind)->second;
  return end > from ? end : 0;
}

constexpr Bytes kEndlessTotal = kTiB;
constexpr Bytes kAddressUnit = 256;  // what drivers promise

}  // namespace

SimulatedDevice::SimulatedDevice(const SimulatedDeviceOptions& options)
    : options_(options),
      addresses_(options.policy, std::max(options.granularity, kAddressUnit), options.address_gap) {
  if (options_.granularity == 0 || options_.granularity > kBeyondDevices) {
    throw std::invalid_argument("the granularity of a device is between 1 byte and 4 EiB");
  }
}

std::unique_ptr<DeviceModel> SimulatedDevice::clone() const {
  return std::make_unique<SimulatedDevice>(*this);
}

bool SimulatedDevice::grants(Bytes charge) const {
  return !options_.capacity || charge <= free_bytes();
}

bool SimulatedDevice::has_room_for(Bytes size) const {
  if (size >= kBeyondDevices) return false;
  const Bytes charge =
      addresses_.shared_charge(size).value_or(round_up(size, options_.granularity));
  return charge < kBeyondDevices && grants(charge);
}

void SimulatedDevice::hold(Bytes charge) {
  usage_.held += charge;
  usage_.peak_held = std::max(usage_.peak_held, usage_.held);
  note_awake();
}

void SimulatedDevice::hold_region(Address region, Bytes charge) {
  *regions_.emplace(region).first = charge;
  usage_.peak_regions = std::max(usage_.peak_regions, ++usage_.regions);
  hold(charge);
}

std::optional<Address> SimulatedDevice::take_addresses(Bytes size, Bytes charge,
                                                       AddressPurpose use) {
  if (options_.address_space &&
      charge > *options_.address_space - std::min(*options_.address_space, addresses_taken_)) {
    return std::nullopt;
  }
  const auto at = addresses_.take(size, use);
  if (at) addresses_taken_ += charge;
  return at;
}

std::optional<Address> SimulatedDevice::obtain(Bytes size) {
  std::optional<Address> region;
  const auto shared = addresses_.shared_charge(size);
  const Bytes whole = round_up(size, options_.granularity);
  if (has_room_for(size)) {
    region = take_addresses(shared ? size : whole, shared.value_or(whole), AddressPurpose::region);
  }
  if (!region) {
    ++usage_.refusals;
    return std::nullopt;
  }
  ++usage_.allocs;
  // What is shared is nobody's own.
  hold_region(*region, shared ? 0 : whole);
  if (shared) hold(*shared);
  return region;
}

void SimulatedDevice::obtain_at(Address at, Bytes size) {
  ++usage_.allocs;
  if (options_.policy != AddressPolicy::upward) addresses_.claim(at, size, AddressPurpose::region);
  addresses_taken_ += round_up(size, options_.granularity);
  hold_region(at, round_up(size, options_.granularity));
}

void SimulatedDevice::give_back(Address region) {
  const Bytes* held = regions_.find(region);
  if (held == nullptr) throw std::logic_error("give_back of a region that is not held");
  const Bytes own = *held;
  regions_.erase(region);
  --usage_.regions;
  ++usage_.frees;
  const Bytes free = own + addresses_.give_back(region);
  addresses_taken_ -= free;
  usage_.held -= free;
}

void SimulatedDevice::take_back(Address region) {
  give_back(region);
  --usage_.frees;
  --usage_.allocs;
  ++usage_.refusals;
}

void SimulatedDevice::adopt(Address region, Bytes size, bool mapped) {
  addresses_.claim(region, size, mapped ? AddressPurpose::reservation : AddressPurpose::region);
  addresses_taken_ += mapped ? size : round_up(size, options_.granularity);
  if (mapped) {
    mapped_.insert({region, region + size});
    // It lies in a reservation, as long as PyTorch makes it, of which nothing else was mapped: the
    // device and an eighth, rounded up to a granule, which is no longer than the device.
    addresses_.avoid(region, 2 * total_bytes() + total_bytes() / 8);
    hold(size);
  } else {
    hold_region(region, round_up(size, options_.granularity));
  }
}

std::optional<Address> SimulatedDevice::reserve(Bytes size) {
  const auto at = take_addresses(size, size, AddressPurpose::reservation);
  if (at) {
    reservations_.emplace(*at, size);
  } else {
    ++usage_.refusals;
  }
  return at;
}

bool SimulatedDevice::map(Address at, Bytes size, Bytes granule) {
  if (granule == 0 || size == 0 || size % granule != 0 || at + size < at) {
    throw std::logic_error("memory is mapped in whole granules");
  }
  if (!grants(size)) {
    ++usage_.refusals;
    return false;
  }
  mapped_.insert({at, at + size});
  ++usage_.maps;
  hold(size);
  return true;
}

void SimulatedDevice::unmap(Address at, Bytes size) {
  if (!mapped_.erase({at, at + size})) throw std::logic_error("unmap of what is not mapped");
  ++usage_.unmaps;
  usage_.held -= size;
}

void SimulatedDevice::alias(Address at, Address, Bytes size, Bytes granule) {
  if (granule == 0 || size == 0 || size % granule != 0 || at + size < at) {
    throw std::logic_error("memory is mapped in whole granules");
  }
  aliases_.emplace(at, Alias{size, size / granule});
  usage_.maps += size / granule;
}

void SimulatedDevice::unalias(Address at) {
  const auto alias = aliases_.find(at);
  if (alias == aliases_.end()) throw std::logic_error("unalias of what is no alias");
  usage_.unmaps += alias->second.granules;
  aliases_.erase(alias);
}

void SimulatedDevice::release(Address at) {
  const auto reservation = reservations_.find(at);
  if (reservation == reservations_.end()) {
    throw std::logic_error("release of addresses that are not reserved");
  }
  const auto still_mapped = mapped_.above(at);
  const auto alias = aliases_.lower_bound(at);
  if ((still_mapped && still_mapped->from < at + reservation->second) ||
      (alias != aliases_.end() && alias->first < at + reservation->second)) {
    throw std::logic_error("release of addresses that are mapped");
  }
  addresses_taken_ -= reservation->second;
  reservations_.erase(reservation);
  addresses_.give_back(at);
}

Bytes SimulatedDevice::total_bytes() const { return options_.capacity.value_or(kEndlessTotal); }

Bytes SimulatedDevice::free_bytes() const {
  Bytes left = total_bytes();
  for (const Bytes taken : {options_.reserve, awake(), held_by_others_}) {
    left -= std::min(left, taken);
  }
  return left;
}

Bytes SimulatedDevice::let_sleep(Bytes size) {
  const Bytes back = usage_.asleep - std::min(usage_.asleep, size);
  const Bytes found = options_.capacity ? free_bytes() : back;
  usage_.asleep = size;
  note_awake();
  return back - std::min(back, found);
}

void SimulatedDevice::let_others_hold(Bytes size) {
  held_by_others_ = 0;
  const Bytes free = free_bytes();
  missed_by_others_ = std::max(missed_by_others_, size - std::min(size, free));
  held_by_others_ = size;
}

AddressSpace::AddressSpace(AddressPolicy policy, Bytes unit, Bytes gap)
    : policy_(policy), unit_(unit), gap_(gap), next_(kBase) {
  if (reuses()) {
    first_ = goes_downward() ? mirrored(kTopOfHost, 0) : kBase;
    const Bytes all = goes_downward() ? kTopOfHost - kBase : kEnd - kBase;
    end_ = first_ + all / unit_ * unit_;
    holes_.insert({first_, end_});
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
  if (!reuses()) {
    at = next_upward(whole);
    if (at) next_ = *at + whole;
  } else if (const auto hole = holes_.lowest(whole)) {
    holes_.erase({hole->from, hole->from + whole});
    taken_.emplace(hole->from, hole->from + whole);
    at = mirrored(hole->from, whole);
  }
  return at;
}

void AddressSpace::claim(Address at, Bytes size, AddressPurpose use) {
  driver_is_fresh_ = false;
  if (driver_ && use == AddressPurpose::region && at < kTopOfDriver && size <= kTopOfDriver - at) {
    return driver_->claim(at, size);
  }
  if (driver_ && at < kTopOfDriver) driver_->go_below(at);
  at = mirrored(at, size);
  const auto after = taken_.upper_bound(at);
  const bool overlaps = (after != taken_.end() && after->first - at < size) ||
                        (after != taken_.begin() && std::prev(after)->second > at);
  const Address first = driver_ ? kTopOfDriver : kBase;
  // Upward ones are given from `first` on, if any was.
  const bool gone = !reuses() && next_ > first && at < next_ && at + size > first;
  if (size == 0 || at + size < at || overlaps || gone) {
    throw std::logic_error("addresses claimed that are taken already");
  }
  taken_.emplace(at, at + size);
  // A host's next region lies below what there is.
  fill_holes(goes_downward() ? std::min(at, first_) : at, at + size);
}

void AddressSpace::avoid(Address at, Bytes size) {
  size = std::min(size, kEnd - std::min(at, kEnd));
  if (driver_ && at < kTopOfDriver) driver_->go_below(at);
  if (reuses()) {
    at = mirrored(at, size);
    return fill_holes(at, at + size);
  }
  Address to = at + size;
  auto next = avoided_.upper_bound(at);
  if (next != avoided_.begin() && std::prev(next)->second >= at) at = (--next)->first;
  while (next != avoided_.end() && next->first <= to) {
    to = std::max(to, next->second);
    next = avoided_.erase(next);
  }
  avoided_.emplace(at, to);
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

std::map<Address, Address>::iterator AddressSpace::taken_at(Address at) {
  if (!goes_downward()) return taken_.find(at);
  const Address end = mirrored(at, 0);
  const auto behind = taken_.lower_bound(end);
  const bool ends = behind != taken_.begin() && std::prev(behind)->second == end;
  return ends ? std::prev(behind) : taken_.end();
}

Bytes AddressSpace::give_back(Address at) {
  const auto place = taken_at(at);
  if (place == taken_.end() && driver_ && at < kTopOfDriver) {
    return driver_->give_back(at) ? SharedPieces::kPiece : 0;
  }
  if (place == taken_.end() && !reuses()) return 0;
  if (place == taken_.end()) throw std::logic_error("addresses given back that were not taken");
  if (place->second > first_ && place->first < end_) {
    // A range that was claimed need not be in whole units, and may share one with a neighbour.
    const auto next = std::next(place);
    const auto whole_below = [&](Address end) { return first_ + (end - first_) / unit_ * unit_; };
    const auto whole_above = [&](Address end) { return first_ + round_up(end - first_, unit_); };
    Address from = whole_below(std::max(place->first, first_));
    Address to = whole_above(std::min(place->second, end_));
    if (place != taken_.begin() && std::prev(place)->second > from) {
      from = whole_above(std::prev(place)->second);
    }
    if (next != taken_.end() && next->first < to) to = whole_below(next->first);
    if (from < to) holes_.insert({from, to});
  }
  taken_.erase(place);
  return 0;
}

}  // namespace memreplay
