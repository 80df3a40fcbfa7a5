#include "device/watch/cost_meter.hpp"

#include <iterator>

namespace memreplay {

std::optional<Address> CostMeter::obtain(Bytes size) {
  const auto region = DeviceWrapper::obtain(size);
  if (region) {
    add(cost_.alloc.ms(size));
    *regions_.emplace(*region).first = size;
  }
  return region;
}

void CostMeter::give_back(Address region) {
  DeviceWrapper::give_back(region);
  add(cost_.free.ms(*regions_.find(region)));
  regions_.erase(region);
}

// Adopted memory cost what it did before; how it was mapped is not known.
void CostMeter::adopt(Address region, Bytes size, bool mapped) {
  DeviceWrapper::adopt(region, size, mapped);
  if (mapped) {
    mapped_[region] = {size, 0};
  } else {
    *regions_.emplace(region).first = size;
  }
}

bool CostMeter::map(Address at, Bytes size, Bytes granule) {
  const bool granted = DeviceWrapper::map(at, size, granule);
  if (granted) {
    add_pieces(cost_.map, size, granule);
    mapped_[at] = {size, granule};
  }
  return granted;
}

// A part of what was mapped, or several calls' worth of it; one strategy maps pieces of one size
// side by side.
void CostMeter::unmap(Address at, Bytes size) {
  DeviceWrapper::unmap(at, size);
  const auto after = mapped_.upper_bound(at);
  add_pieces(cost_.unmap, size, after == mapped_.begin() ? 0 : std::prev(after)->second.granule);
}

void CostMeter::alias(Address at, Address of, Bytes size, Bytes granule) {
  DeviceWrapper::alias(at, of, size, granule);
  add_pieces(cost_.map, size, granule);
  mapped_[at] = {size, granule};
}

void CostMeter::unalias(Address at) {
  DeviceWrapper::unalias(at);
  const Mapped& alias = mapped_.at(at);
  add_pieces(cost_.unmap, alias.size, alias.granule);
}

// Where the pieces are not known the whole is one.
void CostMeter::add_pieces(const CostCurve& call, Bytes size, Bytes granule) {
  const Bytes piece = granule == 0 ? size : granule;
  add(static_cast<double>(size / piece) * call.ms(piece));
}

}  // namespace memreplay
