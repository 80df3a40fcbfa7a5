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

void ScriptedDevice::adopt(Address, Bytes size, bool) {
  held_ += size;
  if (room_ && held_ > *room_ && !size_conflict_) size_conflict_ = {true, 0, held_};
}

void ScriptedDevice::grant(Bytes size) {
  if (room_ && held_ + size > *room_ && !size_conflict_) size_conflict_ = {true, size, held_};
  held_ += size;
}

void ScriptedDevice::refuse(Bytes size) {
  refused_ = size;
  if (room_ && held_ + size <= *room_ && !size_conflict_) size_conflict_ = {false, size, held_};
}

std::optional<Address> ScriptedDevice::obtain(Bytes size) {
  if (!next_is(Op::segment_alloc) || script_.front().size != size) {
    refuse(size);
    return std::nullopt;
  }
  grant(size);
  const Address address = script_.front().address;
  script_ = script_.subspan(1);
  return address;
}

void ScriptedDevice::give_back(Address region) {
  if (!next_is(Op::segment_free) || script_.front().address != region) {
    return contradict(Op::segment_free, region, 0);
  }
  held_ -= std::min(held_, script_.front().size);
  script_ = script_.subspan(1);
}

std::optional<Address> ScriptedDevice::reserve(Bytes) {
  if (!next_is(Op::segment_map)) {
    refused_reservation_ = true;
    return std::nullopt;
  }
  return script_.front().address;
}

bool ScriptedDevice::map(Address at, Bytes size, Bytes) {
  if (!next_is(Op::segment_map)) {
    refuse(size);
    return false;
  }
  if (script_.front().address != at || script_.front().size != size) {
    contradict(Op::segment_map, at, size);
    return false;
  }
  grant(size);
  script_ = script_.subspan(1);
  return true;
}

void ScriptedDevice::unmap(Address at, Bytes size) {
  if (!next_is(Op::segment_unmap) || script_.front().address != at ||
      script_.front().size != size) {
    return contradict(Op::segment_unmap, at, size);
  }
  held_ -= std::min(held_, size);
  script_ = script_.subspan(1);
}

}  // namespace memreplay
