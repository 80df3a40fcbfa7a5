#include "verify/scripted_device.hpp"

#include <fmt/format.h>

namespace memreplay {

std::unique_ptr<DeviceModel> ScriptedDevice::clone() const {
  return std::make_unique<ScriptedDevice>(*this);
}

std::string text_of(const ScriptEntry& entry) {
  const std::string_view name = driver_name(entry.op);
  return entry.size == 0 ? fmt::format("{} at 0x{:x}", name, entry.address)
                         : fmt::format("{} of {} at 0x{:x}", name, entry.size, entry.address);
}

void ScriptedDevice::contradict(Op call, Address address, Bytes size) {
  if (!contradiction_) contradiction_ = {call, address, size, 0};
}

std::optional<Address> ScriptedDevice::obtain(Bytes size) {
  if (!next_is(Op::segment_alloc) || script_.front().size != size) {
    refused_ = size;
    return std::nullopt;
  }
  const Address address = script_.front().address;
  script_ = script_.subspan(1);
  return address;
}

void ScriptedDevice::give_back(Address region) {
  if (!next_is(Op::segment_free) || script_.front().address != region) {
    return contradict(Op::segment_free, region, 0);
  }
  script_ = script_.subspan(1);
}

std::optional<Address> ScriptedDevice::reserve(Bytes) {
  if (!next_is(Op::segment_map)) return std::nullopt;
  return script_.front().address;
}

bool ScriptedDevice::map(Address at, Bytes size, Bytes) {
  if (!next_is(Op::segment_map)) {
    refused_ = size;
    return false;
  }
  if (script_.front().address != at || script_.front().size != size) {
    contradict(Op::segment_map, at, size);
    return false;
  }
  script_ = script_.subspan(1);
  return true;
}

void ScriptedDevice::unmap(Address at, Bytes size) {
  if (!next_is(Op::segment_unmap) || script_.front().address != at ||
      script_.front().size != size) {
    return contradict(Op::segment_unmap, at, size);
  }
  script_ = script_.subspan(1);
}

}  // namespace memreplay
