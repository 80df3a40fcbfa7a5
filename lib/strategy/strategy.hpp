#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/program.hpp"
#include "core/range_set.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"
#include "strategy/abilities.hpp"
#include "strategy/play.hpp"

namespace memreplay {

/// What a strategy did beside placing blocks.
struct StrategyUsage {
  std::uint64_t oom_retries = 0;
  std::uint64_t syncs = 0;
  std::uint64_t stream_waits = 0;
  double stall_seconds = 0;            ///< modelled time of transfers of its own
  std::uint64_t unserved_returns = 0;  ///< moved blocks that did not fit when they were needed
  bool clairvoyant = false;            ///< placed by a plan made from the very requests it serves
  /// Live blocks that left the device during the last call, in order; they are live all the same.
  /// Null, always, for strategies that never move a block; the same list, always, for others.
  const std::vector<Handle>* moved_out = nullptr;
  /// Where live blocks lie now that the last request has moved within the device, by ascending
  /// address; no block moves up. Null or not as above. A block whose free is requested stays.
  const std::vector<Placement>* moved = nullptr;

  bool moves_blocks() const { return moved_out != nullptr || moved != nullptr; }

  /// With what another part of the same strategy did, which moves no blocks.
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

/// What a strategy says about itself beside its usage.
struct Testimony {
  Counters counters = {};
  /// Sentences without which the numbers would mislead: "a model: …". Shown with every result.
  std::vector<std::string> remarks = {};
};

/// One placement policy over one device. It never sees the future, the caller's ids or the time.
///
/// The order of calls: a strategy is made over a device, which it shares with the other parts of a
/// wrapper at most, and may ask it for memory from then on; what it still holds at its end is not
/// returned. `abilities` may be asked at any time; callers do it once. If a recorded state is to be
/// taken over, `adopt` comes before all else, on a strategy as it was made. Then requests and frees
/// follow in the order of the trace, one at a time.
///
/// A block lives from the `allocate` that placed it to either one `free`, or one `request_free`
/// and, after any number of other calls, one `complete_free`. Its handle is the strategy's to
/// choose, and to use again after that. Every handle that is passed is of a live block, no size
/// is 0, alignments are powers of two or 0, streams and pools are small numbers that may appear at
/// any time; sizes may be larger than any device. At the end blocks may still be live. While a free
/// is only requested, streams use the memory: it may be given to others, or to the device, only
/// after waiting for the streams, which `usage().syncs` then counts; `complete_free` comes all the
/// same.
///
/// Between those calls, in any order: `empty_cache`, and of the abilities `release_pool`, `marker`,
/// `safe_frontier` and `prefetch`. The functions that tell (`free_space`, `free_ranges`, `usage`,
/// `testimony`, `memory_state`) may be called between any two calls and change nothing; `usage` and
/// `free_space` are asked after single events and must be cheap, the others now and then.
/// `oom_report` comes right after an `allocate` that was refused.
///
/// Every placement lies in memory that the device gave, is at least as large as its request, is
/// aligned as it asks, and overlaps no live block: the ledger checks it.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A copy in the same state over `device`, which must be a copy of this one's device.
  virtual std::unique_ptr<Strategy> clone(DeviceModel& device) const = 0;

  /// Unset when the request cannot be served.
  virtual std::optional<Placement> allocate(const Request& request) = 0;
  /// The owner is done with the block and so is every stream.
  virtual void free(Handle block, FreeOrigin giver) = 0;
  /// The owner is done with the block, streams may still use it.
  virtual void request_free(Handle /*block*/) {}
  /// No stream uses the block any more whose free was requested.
  virtual void complete_free(Handle block) { free(block, {}); }
  /// The program asks for unused memory to be returned to the device.
  virtual void empty_cache() {}
  /// Plays events without a virtual call for each, as the calls above would one by one; as far as
  /// it likes to.
  virtual StopPoint play(const Stretch& stretch) { return {stretch.from, Pause::other}; }

  virtual FreeSpace free_space() const = 0;
  /// The free memory as the structures have it from which requests are served, in any order.
  virtual std::vector<AddressRange> free_ranges() const = 0;
  virtual StrategyUsage usage() const { return {}; }
  virtual Testimony testimony() const { return {}; }
  /// Segments by address with their blocks; slots and stacks are not filled in.
  virtual MemoryState memory_state() const = 0;

  virtual Abilities abilities() { return {}; }
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
  StopPoint play(const Stretch& stretch) override {
    return play_directly(DirectCalls<Own>{static_cast<Own&>(*this), this->abilities().prefetch},
                         stretch);
  }

 protected:
  explicit StrategyOn(DeviceModel& device) : device_(&device) {}

  DeviceModel* device_;
};

}  // namespace memreplay
