#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/memory_state.hpp"
#include "core/range_set.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"

namespace memreplay {

/// Free bytes inside what the strategy holds.
struct FreeSpace {
  Bytes total = 0;
  Bytes largest = 0;  ///< the largest single hole
  /// What it may still take from the device by a limit of its own.
  Bytes obtainable = UINT64_MAX;

  /// With the holes of another part of the same strategy.
  void add(const FreeSpace& part) {
    total += part.total;
    largest = std::max(largest, part.largest);
  }
};

/// What a strategy did beside placing blocks.
struct StrategyUsage {
  std::uint64_t oom_retries = 0;
  std::uint64_t syncs = 0;
  std::uint64_t stream_waits = 0;
  double stall_seconds = 0;            ///< modelled time of transfers of its own
  std::uint64_t unserved_returns = 0;  ///< moved blocks that did not fit when they were needed
  bool clairvoyant = false;            ///< placed by a plan made from the very requests it serves

  /// With what another part of the same strategy did.
  void add(const StrategyUsage& part) {
    oom_retries += part.oom_retries;
    syncs += part.syncs;
    stream_waits += part.stream_waits;
    stall_seconds += part.stall_seconds;
    unserved_returns += part.unserved_returns;
    clairvoyant |= part.clairvoyant;
  }
};

/// Named numbers of a strategy's own, in the order in which they are shown.
using Counters = std::vector<std::pair<std::string, std::int64_t>>;

/// One placement policy over one device. It never sees the future, the caller's ids or the time.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A copy in the same state over `device`, which must be a copy of this one's device.
  virtual std::unique_ptr<Strategy> clone(DeviceModel& device) const = 0;

  /// Nothing when the request cannot be served. Sizes of 0 are never asked for.
  virtual std::optional<Placement> allocate(const Request& request) = 0;
  /// The owner is done with the block and so is every stream.
  virtual void free(Handle block) = 0;
  /// The same, for strategies to which it matters who does it.
  virtual void free_by(Handle block, const Giver&) { free(block); }
  /// The owner is done with the block; `complete_free` follows at some later time.
  virtual void request_free(Handle) {}
  /// Follows `request_free` of the same handle exactly once.
  virtual void complete_free(Handle block) { free(block); }
  /// The program asks for unused memory to be returned to the device.
  virtual void empty_cache() {}
  /// Nobody holds this private pool any more. `at_once`: what it caches is returned right now.
  virtual void release_pool(PoolIndex, bool /*at_once*/) {}

  /// The trace has a marker here: a step of the program ends.
  virtual void marker() {}
  /// BFC: the device has passed this count of frees.
  virtual void safe_frontier(std::uint64_t) {}

  /// Takes over what existed before the replay, entered into the device already, and fills
  /// `by_slot[slot]` with the handle of every block that has a slot. False: this strategy cannot.
  virtual bool adopt(const MemoryState&, std::span<Handle> /*by_slot*/) { return false; }

  /// The block will be freed a few events from now: a hint to the processor's caches.
  virtual void prefetch(Handle) const {}

  /// Whether it makes one of regions that touch, and places blocks across their border.
  virtual bool joins_regions() const { return false; }
  /// Live blocks that left the device during the last call, in order; they are live all the same.
  /// Null, always, for strategies that never move a block.
  virtual const std::vector<Handle>* moved_out() const { return nullptr; }

  virtual FreeSpace free_space() const = 0;
  /// The free memory as the structures have it from which requests are served, in any order.
  virtual std::vector<AddressRange> free_ranges() const = 0;
  virtual StrategyUsage usage() const { return {}; }
  virtual Counters counters() const { return {}; }
  /// Sentences without which the numbers would mislead: "a model: …". Shown with every result.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// What the original prints when it refuses this request, right after it did; empty: nothing.
  virtual std::string oom_report(const Request&) const { return {}; }
  /// Segments by address with their blocks; slots and stacks are not filled in.
  virtual MemoryState memory_state() const = 0;
};

/// A strategy over one device, whose state may all be copied: a copy of `Own` is the object itself,
/// over the other device.
template <class Own>
class StrategyOn : public Strategy {
 public:
  /// A `clone` that keeps its type.
  std::unique_ptr<Own> copy(DeviceModel& device) const {
    auto made = std::make_unique<Own>(static_cast<const Own&>(*this));
    made->device_ = &device;
    return made;
  }
  std::unique_ptr<Strategy> clone(DeviceModel& device) const final { return copy(device); }

 protected:
  explicit StrategyOn(DeviceModel& device) : device_(&device) {}

  DeviceModel* device_;
};

}  // namespace memreplay
