#include "device/watch/logged_device.hpp"

namespace memreplay {

std::unique_ptr<DeviceModel> LoggedDevice::clone() const {
  auto copy = std::make_unique<LoggedDevice>(*this);
  copy->own(inner().clone());
  return copy;
}

std::optional<Address> LoggedDevice::obtain(Bytes size) {
  const auto region = DeviceWrapper::obtain(size);
  if (region) {
    sizes_[*region] = size;
    events_.push_back({Op::segment_alloc, *region, size});
  }
  return region;
}

void LoggedDevice::give_back(Address region) {
  DeviceWrapper::give_back(region);
  const auto size = sizes_.find(region);
  events_.push_back({Op::segment_free, region, size->second});
  sizes_.erase(size);
}

void LoggedDevice::adopt(Address region, Bytes size, bool mapped) {
  DeviceWrapper::adopt(region, size, mapped);
  if (!mapped) sizes_[region] = size;
}

bool LoggedDevice::map(Address at, Bytes size, Bytes granule) {
  const bool granted = DeviceWrapper::map(at, size, granule);
  if (granted) events_.push_back({Op::segment_map, at, size});
  return granted;
}

void LoggedDevice::unmap(Address at, Bytes size) {
  DeviceWrapper::unmap(at, size);
  events_.push_back({Op::segment_unmap, at, size});
}

void LoggedDevice::alias(Address at, Address of, Bytes size, Bytes granule) {
  DeviceWrapper::alias(at, of, size, granule);
  sizes_[at] = size;
  events_.push_back({Op::segment_map, at, size});
}

void LoggedDevice::unalias(Address at) {
  DeviceWrapper::unalias(at);
  const auto size = sizes_.find(at);
  events_.push_back({Op::segment_unmap, at, size->second});
  sizes_.erase(size);
}

std::optional<DriverBlock> LoggedDevice::allocate(Bytes size, Bytes alignment, StreamIndex stream) {
  const auto block = DeviceWrapper::allocate(size, alignment, stream);
  if (block) {
    sizes_[block->address] = size;
    events_.push_back({Op::segment_alloc, block->address, size});
  }
  return block;
}

void LoggedDevice::free(Address block, StreamIndex stream) {
  DeviceWrapper::free(block, stream);
  const auto size = sizes_.find(block);
  events_.push_back({Op::segment_free, block, size->second});
  sizes_.erase(size);
}

}  // namespace memreplay
