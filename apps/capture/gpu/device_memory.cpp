#include "device_memory.hpp"

#include <algorithm>

namespace memreplay::gpu {

Window::Window(AddressRange whole, AddressPolicy order) : whole_(whole) {
  if (order == AddressPolicy::cuda_linux) {
    driver_.emplace(whole.size());
    driver_->take_context();
  } else {
    holes_.insert(whole);
  }
}

void Window::clear() {
  while (!taken_.empty()) give_back(taken_.begin()->first);
}

Bytes Window::charge(Bytes size) const {
  return driver_ ? driver_->charge(size) : in_granules(size);
}

std::optional<Address> Window::take(Bytes size) {
  const bool shared = driver_ && size < kGranule;
  const Bytes whole = shared ? size : in_granules(size);
  const auto at = driver_ ? driver_->take(whole) : lowest_hole(whole);
  if (!at) return std::nullopt;
  const Address from = driver_ ? whole_.from + *at : *at;
  taken_.emplace(from, whole);
  return from;
}

std::optional<Address> Window::lowest_hole(Bytes size) {
  const auto hole = holes_.lowest(size);
  if (!hole) return std::nullopt;
  holes_.erase({hole->from, hole->from + size});
  return hole->from;
}

std::optional<Bytes> Window::give_back(Address at) {
  const auto found = taken_.find(at);
  if (found == taken_.end()) return std::nullopt;
  const Bytes size = found->second;
  taken_.erase(found);
  if (!driver_) {
    holes_.insert({at, at + size});
    return size;
  }
  const bool ends_a_piece = driver_->give_back(at - whole_.from);
  return size >= kGranule ? size : ends_a_piece ? kGranule : 0;
}

std::optional<AddressRange> Window::holding(Address byte) const {
  auto after = taken_.upper_bound(byte);
  if (after == taken_.begin()) return std::nullopt;
  --after;
  if (byte >= after->first + after->second) return std::nullopt;
  return AddressRange{after->first, after->first + after->second};
}

bool DeviceMemory::use() {
  if (!has_context) has_context = card.cards.charge(card.number, card.context, card.capacity);
  return has_context;
}

bool DeviceMemory::take(Bytes size) {
  if (!use() || !card.cards.charge(card.number, size, card.capacity)) return false;
  outside += size;
  return true;
}

bool DeviceMemory::charge(Bytes size) {
  if (!use() || !card.cards.charge(card.number, size, card.capacity)) return false;
  used += size;
  peak = std::max(peak, used);
  return true;
}

void DeviceMemory::discharge(Bytes size) {
  card.cards.discharge(card.number, size);
  used -= size;
}

void DeviceMemory::reset() {
  card.cards.discharge(card.number, used + outside + (has_context ? card.context : 0));
  has_context = false;
  used = peak = outside = 0;
  window.clear();
}

Bytes DeviceMemory::free_bytes() const {
  return card.capacity - std::min(card.capacity, card.cards.used(card.number));
}

std::optional<Address> DeviceMemory::allocate(Bytes size) {
  if (in_granules(size) < size) return std::nullopt;
  const Bytes taken = window.charge(size);
  if (!charge(taken)) return std::nullopt;
  const auto at = window.take(size);
  if (!at) discharge(taken);
  return at;
}

bool DeviceMemory::free(Address at) {
  const auto size = window.give_back(at);
  if (size) discharge(*size);
  return size.has_value();
}

}  // namespace memreplay::gpu
