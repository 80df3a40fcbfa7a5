#include "device/device_wrapper.hpp"

#include <algorithm>

namespace memreplay {
namespace {

constexpr Bytes kBeyondAnyDevice = Bytes{1} << 61;  // no device has that much

}  // namespace

std::unique_ptr<DeviceModel> CapacityWatch::clone() const {
  auto copy = std::make_unique<CapacityWatch>(*this);
  copy->own(inner().clone());
  return copy;
}

void CapacityWatch::note_refusal(Bytes charge) {
  const Bytes wanted = usage().held - std::min(usage().held, usage().asleep) + charge;
  least_refused_ = std::min(least_refused_.value_or(wanted), wanted);
}

std::optional<Address> CapacityWatch::obtain(Bytes size) {
  const auto region = DeviceWrapper::obtain(size);
  if (!region && size < kBeyondAnyDevice) note_refusal(round_up(size, granularity_));
  return region;
}

bool CapacityWatch::map(Address at, Bytes size, Bytes granule) {
  const bool granted = DeviceWrapper::map(at, size, granule);
  if (!granted && size < kBeyondAnyDevice) note_refusal(size);
  return granted;
}

Bytes CapacityWatch::total_bytes() const {
  asked_for_size_ = true;
  return DeviceWrapper::total_bytes();
}

Bytes CapacityWatch::free_bytes() const {
  asked_for_size_ = true;
  return DeviceWrapper::free_bytes();
}

}  // namespace memreplay
