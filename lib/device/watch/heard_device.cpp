#include "device/watch/heard_device.hpp"

#include <iterator>

namespace memreplay {

using Kind = DeviceCall::Kind;

// What was never given is for a listener to find out.
void HeardDevice::say_returned(Kind kind, Address address) {
  const Bytes* size = sizes_.find(address);
  say({.kind = kind, .address = address, .bytes = size != nullptr ? *size : 0});
  if (size != nullptr) sizes_.erase(address);
}

std::optional<Address> HeardDevice::obtain(Bytes size) {
  const auto region = DeviceWrapper::obtain(size);
  if (!region) return std::nullopt;
  *sizes_.emplace(*region).first = size;
  say({.kind = Kind::obtain, .address = *region, .bytes = size});
  return region;
}

void HeardDevice::give_back(Address region) {
  say_returned(Kind::give_back, region);
  DeviceWrapper::give_back(region);
}

// How an adopted run was mapped is not known.
void HeardDevice::adopt(Address region, Bytes size, bool mapped) {
  DeviceWrapper::adopt(region, size, mapped);
  if (mapped) {
    mapped_[region] = {size, 0};
  } else {
    *sizes_.emplace(region).first = size;
  }
  say({.kind = mapped ? Kind::adopt_mapped : Kind::adopt, .address = region, .bytes = size});
}

bool HeardDevice::map(Address at, Bytes size, Bytes granule) {
  if (!DeviceWrapper::map(at, size, granule)) return false;
  mapped_[at] = {size, granule};
  say({.kind = Kind::map, .address = at, .bytes = size, .granule = granule});
  return true;
}

// A part of what was mapped, or several calls' worth of it; one strategy maps pieces of one size
// side by side.
void HeardDevice::unmap(Address at, Bytes size) {
  const auto after = mapped_.upper_bound(at);
  const Bytes granule = after == mapped_.begin() ? 0 : std::prev(after)->second.granule;
  say({.kind = Kind::unmap, .address = at, .bytes = size, .granule = granule});
  DeviceWrapper::unmap(at, size);
}

void HeardDevice::alias(Address at, Address of, Bytes size, Bytes granule) {
  DeviceWrapper::alias(at, of, size, granule);
  mapped_[at] = {size, granule};
  say({.kind = Kind::alias, .address = at, .bytes = size, .granule = granule, .of = of});
}

void HeardDevice::unalias(Address at) {
  const Mapped alias = mapped_[at];
  say({.kind = Kind::unalias, .address = at, .bytes = alias.size, .granule = alias.granule});
  mapped_.erase(at);
  DeviceWrapper::unalias(at);
}

std::optional<DriverBlock> HeardDevice::allocate(Bytes size, Bytes alignment, StreamIndex stream) {
  const auto block = DeviceWrapper::allocate(size, alignment, stream);
  if (!block) return std::nullopt;
  *sizes_.emplace(block->address).first = size;
  say({.kind = Kind::allocate, .address = block->address, .bytes = size, .charged = block->size});
  return block;
}

void HeardDevice::free(Address block, StreamIndex stream) {
  say_returned(Kind::free, block);
  DeviceWrapper::free(block, stream);
}

void DeviceLog::on_device_call(const DeviceCall& call) {
  const auto note = [&](Op op) { events_.push_back({op, call.address, call.bytes}); };
  switch (call.kind) {
    case Kind::obtain:
    case Kind::allocate:
      return note(Op::segment_alloc);
    case Kind::give_back:
    case Kind::free:
      return note(Op::segment_free);
    case Kind::map:
    case Kind::alias:
      return note(Op::segment_map);
    case Kind::unmap:
    case Kind::unalias:
      return note(Op::segment_unmap);
    case Kind::adopt:
    case Kind::adopt_mapped:
      return;
  }
}

void CostMeter::on_device_call(const DeviceCall& call) {
  switch (call.kind) {
    case Kind::obtain:
      return add(cost_.alloc.ms(call.bytes));
    case Kind::give_back:
      return add(cost_.free.ms(call.bytes));
    case Kind::map:
    case Kind::alias:
      return add_pieces(cost_.map, call);
    case Kind::unmap:
    case Kind::unalias:
      return add_pieces(cost_.unmap, call);
    case Kind::adopt:
    case Kind::adopt_mapped:
    case Kind::allocate:
    case Kind::free:
      return;
  }
}

// Where the pieces are not known the whole is one.
void CostMeter::add_pieces(const CostCurve& curve, const DeviceCall& call) {
  const Bytes piece = call.granule == 0 ? call.bytes : call.granule;
  add(static_cast<double>(call.bytes / piece) * curve.ms(piece));
}

}  // namespace memreplay
