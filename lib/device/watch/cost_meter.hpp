#pragma once

#include <map>
#include <memory>

#include "core/address_table.hpp"
#include "device/cost_model.hpp"
#include "device/device_wrapper.hpp"

namespace memreplay {

/// Adds up what the calls to a device would cost, each by its size. Refused calls cost nothing.
class CostMeter final : public DeviceWrapper {
 public:
  CostMeter(DeviceModel& device, const CostModel& cost) : DeviceWrapper(device), cost_(cost) {}

  /// So far; always the same object.
  const double& seconds() const { return seconds_; }

  std::unique_ptr<DeviceModel> clone() const override { return inner().clone(); }
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address at, Address of, Bytes size, Bytes granule) override;
  void unalias(Address at) override;

 private:
  struct Mapped {
    Bytes size = 0;
    Bytes granule = 0;
  };

  void add(double ms) { seconds_ += ms / 1000.0; }
  void add_pieces(const CostCurve& call, Bytes size, Bytes granule);

  CostModel cost_;
  double seconds_ = 0;
  AddressTable<Bytes> regions_;       ///< their sizes
  std::map<Address, Mapped> mapped_;  ///< by the first address of each call; aliases too
};

}  // namespace memreplay
