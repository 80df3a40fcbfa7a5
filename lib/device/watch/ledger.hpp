#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/range_set.hpp"
#include "core/request.hpp"
#include "device/watch/heard_device.hpp"
#include "device/watch/watcher.hpp"

namespace memreplay {

/// A strategy broke a rule. `what()` names the strategy, the event, the rule and the addresses.
class AuditError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Judges every placement. It believes nothing that the strategy says about itself: what the device
/// gave comes from a HeardDevice, the rest from the replay. O(log live) a call.
class Ledger final : public Watcher {
 public:
  explicit Ledger(std::string_view strategy) : strategy_(strategy) {}

  /// A block may lie across regions that touch: the strategy joins them where the driver lets it.
  void let_regions_join() { regions_join_ = true; }
  /// From now on blocks may leave the device, and their memory too before `moved_out` is called.
  void expect_moves() { may_move_ = true; }

  void on_device_call(const DeviceCall& call) override;
  void region_given(Address region, Bytes size);
  void region_taken_back(Address region);
  void mapped(Address at, Bytes size);
  void unmapped(Address at, Bytes size);
  /// [at, at + size) shows the memory of [of, of + size).
  void aliased(Address at, Address of, Bytes size);
  void unaliased(Address at);

  void placed(std::uint64_t event, const Request& request, const Placement& placement) override;
  void free_requested(std::uint64_t event, const Placement& placement) override;
  void freed(std::uint64_t event, const Placement& placement) override;
  void moved_out(const Placement& placement) override;
  void moved(const Placement& from, const Placement& to) override;
  void synchronised() override;

  std::uint64_t live_blocks() const { return live_.size(); }

 private:
  [[noreturn]] void fail(std::string_view rule, Address from, Address to) const;
  bool given(Address from, Address to) const;
  /// The memory that addresses show, in pieces: themselves where they are no alias.
  template <typename Visit>
  void for_each_piece(AddressRange shown, const Visit& visit) const;
  void forget(AddressRange shown);
  void check_unused(AddressRange range);
  void begin(std::uint64_t event);
  void check_live(const Placement& placement) const;

  std::string strategy_;
  bool regions_join_ = false;
  bool may_move_ = false;
  std::map<Address, Address> returned_under_;  ///< from -> to, of blocks that must have moved
  std::uint64_t event_ = 0;                    ///< the latest one heard of
  std::map<Address, Address> regions_;         ///< from -> to
  RangeSet mapped_;
  struct Alias {
    Address to = 0;
    Address of = 0;
    bool undone = false;  ///< under a block that must have moved
  };
  std::map<Address, Alias> aliases_;            ///< by the addresses that show the memory
  std::map<Address, Address> live_;             ///< from -> to, the memory of live blocks
  std::map<Address, Address> live_aliased_;     ///< from -> to, addresses of those under an alias
  std::map<Handle, AddressRange> pending_;      ///< live: free requested
  std::set<Handle> completed_early_;            ///< by waiting; `freed` is still to come
  std::optional<AddressRange> returned_early_;  ///< pending memory that the device took back
};

}  // namespace memreplay
