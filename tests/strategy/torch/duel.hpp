#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/reference.hpp"

namespace memreplay {

/// One thing that a program asks of its allocator. Blocks have numbers that are not used again; a
/// step for a block that does not exist is skipped, so that steps can be left out of a list.
struct Step {
  enum class Kind : std::uint8_t {
    allocate,
    free,
    request_free,
    complete_free,
    empty_cache,
    release_pool,  ///< and no allocation from it any more
    end_mem_pool   ///< likewise, and its cache is emptied
  };

  Kind kind = Kind::allocate;
  StreamIndex stream = 0;
  PoolIndex pool = 0;
  std::uint32_t block = 0;
  Bytes size = 0;
};

/// The default pool and private ones.
inline constexpr PoolIndex kPools = 5;

/// Under what circumstances they are asked.
struct Circumstances {
  std::string conf;  ///< as in PYTORCH_CUDA_ALLOC_CONF
  std::string release;
  std::optional<Bytes> capacity;
  AddressPolicy policy = AddressPolicy::upward;
  std::vector<PoolOptions> pool_options = std::vector<PoolOptions>(kPools);
  /// What an allocator built after PyTorch's does to requests.
  Bytes request_padding = 0;
  Bytes large_alignment = 0;
  /// What there is at first. Its blocks in use are those from 1 on, in order.
  MemoryState start = {};
};

std::string describe(const Circumstances& circumstances);
std::string describe(const std::vector<Step>& steps);

/// Our allocator, under a ledger, and the reference, each on a device of its own.
class Duel {
 public:
  explicit Duel(const Circumstances& circumstances);

  /// Plays a step on both. What differs: the address, the refusal or what the device was asked for;
  /// empty when nothing does.
  std::string play(const Step& step);
  /// What differs among statistics and memory states.
  std::string compare() const;

  bool exists(std::uint32_t block) const { return blocks_.contains(block); }
  const reference::Allocator& reference() const { return *reference_; }

 private:
  struct Block {
    Placement placement;
    reference::Life life = 0;
    bool free_requested = false;
  };

  void adopt(MemoryState start);
  std::string allocate(const Step& step);
  void free(const Step& step, Block& block);
  void note_waiting();
  std::string compare_devices();

  RecordedSettings recorded_;
  Ledger ledger_{"torch"};
  std::unique_ptr<SimulatedDevice> simulated_;
  DeviceLog log_;
  std::unique_ptr<HeardDevice> heard_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<reference::Allocator> reference_;
  std::map<std::uint32_t, Block> blocks_;
  std::uint64_t steps_ = 0;
  std::uint64_t syncs_ = 0;
  std::size_t device_events_ = 0;  ///< compared so far
};

/// Leaves out of `steps`, at whose end the two differ, what is not needed for a difference.
std::vector<Step> shrink(const Circumstances& circumstances, std::vector<Step> steps);

}  // namespace memreplay
