#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/real/real_memory.hpp"
#include "device/simulated_device.hpp"

namespace memreplay {

struct RealDeviceOptions {
  std::optional<Bytes> capacity;  ///< reported as the total; unset: what the device has
  Bytes reserve = 0;              ///< part of the capacity that is left to others
  /// The memory that `obtain` hands out: as the driver allocates it, or mapped into a long range of
  /// addresses, so that regions that touch here touch there too, in pieces of one size or each in
  /// one piece.
  enum class Regions { allocated, mapped, mapped_in_granules };
  Regions regions = Regions::allocated;
  Bytes granule = 0;  ///< size of the pieces of mapped_in_granules; 0: the device's granularity
};

/// A device over real memory. Its addresses are those of a simulated device without limit, so that
/// a strategy decides here as there, byte by byte; `ranges` says where they really lie. Blocks of
/// the driver's own allocator alone have the driver's addresses. O(log regions) beside the driver.
class RealDevice final : public DeviceModel, public VirtualMemory, public DriverAllocator {
 public:
  /// `memory` outlives this. Throws UsageError for a granule that the device cannot map.
  RealDevice(RealMemory& memory, const RealDeviceOptions& options);
  /// Gives back everything. A driver that refuses to take it is not heard.
  ~RealDevice() override;
  RealDevice(const RealDevice&) = delete;
  RealDevice& operator=(const RealDevice&) = delete;

  /// The real memory behind [at, at + size), in order; what found no room when it was adopted is
  /// missing. More than one range where it lies in several reservations.
  std::vector<RealRange> ranges(Address at, Bytes size) const;
  /// Called before memory behind [at, at + size) is returned, or shown no more by an alias.
  using Listener = std::function<void(Address at, Bytes size)>;
  void before_return(Listener listener) { before_return_ = std::move(listener); }
  /// Regions from before the recording that the device had no room for.
  std::uint64_t not_adopted() const { return not_adopted_; }

  /// Real memory has no copy: throws std::logic_error.
  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  VirtualMemory* virtual_memory() override;
  DriverAllocator* driver_allocator() override { return this; }
  Bytes total_bytes() const override { return books_.total_bytes(); }
  Bytes free_bytes() const override;
  const DeviceUsage& usage() const override { return usage_; }

  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address at, Address of, Bytes size, Bytes granule) override;
  void unalias(Address at) override;
  void release(Address at) override;

  bool has(DriverAllocatorOptions::Kind kind) const override { return memory_.has_allocator(kind); }
  void open(const DriverAllocatorOptions& options) override;
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override;
  void free(Address block, StreamIndex stream) override;
  void trim() override;

 private:
  struct Piece {
    Bytes size = 0;
    RealMemory::Piece piece = 0;
  };
  using Ranges = std::map<Address, RealRange>;  ///< by the address here

  std::optional<Address> obtain_mapped(Bytes size);
  bool create_pieces(Bytes size, Bytes granule);
  void destroy_loose_pieces();
  bool map_loose_pieces(Address at);
  void unmap_pieces(Address at, Bytes size);
  /// The reservation or window that holds the address; null where there is none.
  const Ranges::value_type* reservation_of(Address at) const;
  void release_window(Ranges::iterator window);
  void ensure_reserved(Address at, Bytes size);
  [[noreturn]] void full() const;
  Address real_address(Address at) const;
  std::optional<RealRange> behind(Address at) const;
  void follow_books() { usage_ = books_.usage(); }
  void follow_driver();

  RealMemory& memory_;
  RealDeviceOptions::Regions regions_kind_;
  Bytes granule_;
  SimulatedDevice books_;
  DeviceUsage usage_;
  Ranges regions_;       ///< allocated by the driver; size 0: no memory behind it
  Ranges reservations_;  ///< reserved address ranges
  Ranges windows_;  ///< reserved for what lies outside of those; each ends where the next begins
  std::vector<Piece> loose_pieces_;        ///< with no address
  std::map<Address, Piece> pieces_;        ///< mapped, by the address here
  std::map<Address, Piece> alias_pieces_;  ///< once more, by the address of the alias
  std::map<Address, Bytes> mapped_regions_;
  std::map<Address, Bytes> aliases_;
  std::unique_ptr<DriverBlocks> driver_blocks_;
  std::map<Address, Bytes> driver_sizes_;  ///< sizes of the driver's live blocks
  Bytes live_of_driver_ = 0;
  std::uint64_t not_adopted_ = 0;
  Listener before_return_ = [](Address, Bytes) {};
};

}  // namespace memreplay
