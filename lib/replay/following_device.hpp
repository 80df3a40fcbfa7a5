#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "device/device_wrapper.hpp"
#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A simulated device that gives what the recorded one gave, where it gave it, for as long as it is
/// asked for the same at the same events. Then it goes on by itself, under its own policy; where
/// addresses go upward, above all given so far.
/// O(1) a call beside what the simulated device costs.
class FollowingDevice final : public DeviceWrapper {
 public:
  /// `device` was asked for nothing yet. `total`, where the recording decides over refusals too, is
  /// what it reports as its size. All arguments outlive this.
  FollowingDevice(SimulatedDevice& device, const Trace& trace, const SimulatedDeviceOptions& asked,
                  Bytes total);

  /// To be kept at the event under way.
  std::uint64_t* event() { return &event_; }
  /// Before the first event: the recording is not followed at all.
  void follow_nothing();
  /// After the last event that was played; unset where the recording was not followed at all.
  std::optional<Followed> followed(std::uint64_t events) const;

  /// A copy of the device as it is, which follows nothing.
  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  Bytes total_bytes() const override;
  Bytes free_bytes() const override;

  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void release(Address at) override;

 private:
  /// What the recorded driver was asked for and granted.
  struct Call {
    Op op = Op::segment_alloc;
    Address address = 0;
    Bytes size = 0;
    std::uint64_t event = 0;
    std::uint64_t from = 0;  ///< right after the request before it
    std::uint64_t to = 0;    ///< the request that asked for it, or what the program did before
  };

  /// The next call, if it is one of the event under way; null.
  const Call* due();
  void note_returned(Op op, Address at, std::optional<Bytes> size = {});
  /// Whether the call that takes memory is refused. `recorded`: it is the next one.
  bool refuses(bool recorded, Bytes size);
  bool is_unreserved(Address at, Bytes size) const;
  void leave();
  void note_given(Address at, Bytes size) { top_ = std::max(top_, at + size); }

  SimulatedDevice& device_;
  const Trace& trace_;
  SimulatedDeviceOptions asked_;
  bool refuses_as_recorded_;
  Bytes total_;
  std::vector<Call> calls_;
  std::size_t next_ = 0;
  std::uint64_t event_ = 0;
  bool follows_ = true;
  std::optional<Followed> followed_ = Followed{};
  Address top_ = 0;                        ///< end of the highest range given so far
  std::map<Address, Bytes> reservations_;  ///< at recorded addresses
};

}  // namespace memreplay
