#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/program.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"

namespace memreplay {

/// A call that the recorded driver granted, or that gave something back to it.
struct ScriptEntry {
  Op op = Op::segment_alloc;
  Address address = 0;
  Bytes size = 0;
  PoolIndex pool = 0;  ///< the segment's
};

/// "segment_map of 20971520 at 0x7a0000000000"
std::string text_of(const ScriptEntry& entry);

/// The size of the device as a person states it.
struct StatedDevice {
  Bytes capacity = 0;
  Bytes reserve = 0;  ///< part of the capacity that others hold

  Bytes room() const { return capacity - std::min(capacity, reserve); }
};

/// What the recorded device did and one of the stated size does not do.
struct SizeConflict {
  bool granted = false;  ///< beyond its room; else refused within it
  Bytes asked = 0;       ///< 0: it is what was held before the recording
  Bytes held = 0;        ///< beside it
};

/// A device that answers as the recorded one did: it grants what the script has next and is full
/// where the script shows something else. Giving back what the script does not is a contradiction.
class ScriptedDevice final : public DeviceModel, public VirtualMemory {
 public:
  explicit ScriptedDevice(Bytes total, std::optional<Bytes> room = {})
      : total_(total), room_(room) {}

  /// The entries to come. They must outlive their use.
  void play(std::span<const ScriptEntry> script) {
    script_ = script;
    contradiction_.reset();
    refused_ = 0;
    refused_reservation_ = false;
  }
  std::span<const ScriptEntry> rest() const { return script_; }
  /// Bytes that a call of this script asked for in vain; 0: every call was granted.
  Bytes refused() const { return refused_; }
  /// A range of addresses was refused, so nothing was asked for to map into it.
  bool refused_reservation() const { return refused_reservation_; }
  /// The first answer that does not go with the stated room, of all scripts.
  const std::optional<SizeConflict>& size_conflict() const { return size_conflict_; }
  /// The first call that the script does not have.
  const std::optional<ScriptEntry>& contradiction() const { return contradiction_; }

  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address, Bytes size, bool) override;
  VirtualMemory* virtual_memory() override { return this; }
  Bytes total_bytes() const override { return total_; }
  Bytes free_bytes() const override { return total_; }
  const DeviceUsage& usage() const override { return usage_; }

  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address, Address, Bytes, Bytes) override {}
  void unalias(Address) override {}
  void release(Address) override {}

 private:
  bool next_is(Op op) const { return !script_.empty() && script_.front().op == op; }
  void contradict(Op call, Address address, Bytes size);
  void grant(Bytes size);
  void refuse(Bytes size);

  Bytes total_;
  std::optional<Bytes> room_;  ///< unset: whatever the script has
  Bytes held_ = 0;
  std::optional<SizeConflict> size_conflict_;
  std::span<const ScriptEntry> script_;
  std::optional<ScriptEntry> contradiction_;
  Bytes refused_ = 0;
  bool refused_reservation_ = false;
  DeviceUsage usage_;
};

}  // namespace memreplay
