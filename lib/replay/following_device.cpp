#include "replay/following_device.hpp"

#include <algorithm>

namespace memreplay {

FollowingDevice::FollowingDevice(SimulatedDevice& device, const Trace& trace,
                                 const SimulatedDeviceOptions& asked, Bytes total)
    : DeviceWrapper(device),
      device_(device),
      trace_(trace),
      asked_(asked),
      refuses_as_recorded_(asked.like_recorded == LikeRecorded::addresses_and_refusals),
      total_(total) {
  if (refuses_as_recorded_) device_.set_capacity(std::nullopt);
  std::uint64_t behind_request = 0;
  std::size_t open = 0;  // the first call whose request did not come yet
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    const Op op = trace.ops[i];
    if (is_driver_event(op)) {
      calls_.push_back({op, trace.addresses[i], trace.sizes[i], i, behind_request, trace.size()});
    }
    if (!is_request(op)) continue;
    for (; open < calls_.size(); ++open) calls_[open].to = i;
    behind_request = i + 1;
  }
}

void FollowingDevice::follow_nothing() {
  follows_ = false;
  followed_.reset();
  device_.set_capacity(asked_.capacity);
}

std::optional<Followed> FollowingDevice::followed(std::uint64_t events) const {
  if (!follows_ || next_ == calls_.size() || calls_[next_].event >= events) return followed_;
  return Followed{false, calls_[next_].event};
}

void FollowingDevice::leave() {
  follows_ = false;
  followed_ = Followed{false, event_};
  device_.set_capacity(asked_.capacity);
  if (asked_.policy == AddressPolicy::upward) device_.go_on_above(top_);
}

const FollowingDevice::Call* FollowingDevice::due() {
  if (next_ == calls_.size() || event_ < calls_[next_].from) return nullptr;
  // A recorded call that nobody made.
  if (calls_[next_].to < event_) leave();
  return follows_ ? &calls_[next_] : nullptr;
}

void FollowingDevice::note_returned(Op op, Address at, std::optional<Bytes> size) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return;
  if (call != nullptr && call->op == op && call->address == at &&
      size.value_or(call->size) == call->size) {
    ++next_;
  } else {
    leave();
  }
}

bool FollowingDevice::refuses(bool recorded, Bytes size) {
  const bool full = refuses_as_recorded_ ? !recorded : !device_.has_room_for(size);
  if (full == recorded) leave();
  return full;
}

std::unique_ptr<DeviceModel> FollowingDevice::clone() const {
  auto copy = std::make_unique<SimulatedDevice>(device_);
  copy->set_capacity(asked_.capacity);
  if (asked_.policy == AddressPolicy::upward) copy->go_on_above(top_);
  return copy;
}

std::optional<Address> FollowingDevice::obtain(Bytes size) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return device_.obtain(size);
  const bool recorded = call != nullptr && call->op == Op::segment_alloc && call->size == size;
  if (refuses(recorded, size)) {
    device_.refuse();
    return std::nullopt;
  }
  if (!follows_) return device_.obtain(size);
  ++next_;
  note_given(call->address, size);
  device_.obtain_at(call->address, size);
  return call->address;
}

void FollowingDevice::give_back(Address region) {
  note_returned(Op::segment_free, region);
  device_.give_back(region);
}

void FollowingDevice::adopt(Address region, Bytes size, bool mapped) {
  device_.adopt(region, size, mapped);
  // It lies in a reservation, as long as PyTorch makes it, of which it may be the first part.
  const Bytes reserved = mapped ? std::max(size, total_bytes() + total_bytes() / 8) : size;
  if (mapped) reservations_[region] = reserved;
  note_given(region, reserved);
}

Bytes FollowingDevice::total_bytes() const {
  return follows_ && refuses_as_recorded_ ? total_ : device_.total_bytes();
}

Bytes FollowingDevice::free_bytes() const {
  if (!follows_ || !refuses_as_recorded_) return device_.free_bytes();
  if (event_ < trace_.size() && trace_.ops[event_] == Op::oom) return trace_.addresses[event_];
  const Bytes room = asked_.room().value_or(device_.total_bytes());
  return room - std::min(room, device_.usage().held);
}

std::optional<Address> FollowingDevice::reserve(Bytes size) {
  const Call* call = follows_ ? due() : nullptr;
  const bool recorded = call != nullptr && call->op == Op::segment_map;
  if (follows_ && !recorded && refuses_as_recorded_) return std::nullopt;
  // As long as this device makes them, they need not fit between the recorded ones.
  const bool fits = refuses_as_recorded_ || (recorded && is_unreserved(call->address, size));
  if (follows_ && !(recorded && fits)) leave();
  if (!follows_) return device_.reserve(size);
  reservations_[call->address] = size;
  note_given(call->address, size);
  return call->address;
}

bool FollowingDevice::is_unreserved(Address at, Bytes size) const {
  return std::ranges::none_of(reservations_, [&](const auto& other) {
    return other.first < at + size && at < other.first + other.second;
  });
}

bool FollowingDevice::map(Address at, Bytes size, Bytes granule) {
  const Call* call = follows_ ? due() : nullptr;
  if (!follows_) return device_.map(at, size, granule);
  const bool recorded =
      call != nullptr && call->op == Op::segment_map && call->address == at && call->size == size;
  if (refuses(recorded, size)) {
    device_.refuse();
    return false;
  }
  if (follows_) ++next_;
  return device_.map(at, size, granule);
}

void FollowingDevice::unmap(Address at, Bytes size) {
  note_returned(Op::segment_unmap, at, size);
  device_.unmap(at, size);
}

// How long a recorded reservation really was is not in the recording: it may reach into the next.
void FollowingDevice::release(Address at) {
  if (reservations_.erase(at) == 0) device_.release(at);
}

}  // namespace memreplay
