#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/program.hpp"
#include "core/request.hpp"
#include "core/units.hpp"

namespace memreplay {

/// Ability of a strategy: taking note of how far the program has come.
class ProgramSteps {
 public:
  virtual ~ProgramSteps() = default;
  /// The trace has a marker here: a step of the program ends.
  virtual void marker() {}
  /// BFC: the device has passed this count of frees, which never falls.
  virtual void safe_frontier(std::uint64_t /*frees*/) {}
};

/// What becomes of the cache of a private pool that nobody holds any more.
enum class PoolCache : std::uint8_t {
  kept,      ///< until memory is returned for another reason
  returned,  ///< to the device, at once
};

/// Ability of a strategy: private pools that end.
class PrivatePools {
 public:
  virtual ~PrivatePools() = default;
  /// Nobody holds the pool any more; blocks of it may still be live.
  virtual void release_pool(PoolIndex pool, PoolCache cache) = 0;
};

/// Ability of a strategy: going on from a state that was recorded.
class Adoption {
 public:
  virtual ~Adoption() = default;
  /// At most once, before all other calls: the segments have been entered into the device. Fills
  /// `by_slot[slot]` with the handle of every block that has a slot.
  virtual void adopt(const MemoryState& state, std::span<Handle> by_slot) = 0;
};

/// Ability of a strategy: a hint to the processor's caches.
class Prefetch {
 public:
  virtual ~Prefetch() = default;
  /// The live block will be freed a few events from now.
  virtual void prefetch(Handle block) const = 0;
};

/// Ability of a strategy: the words of the original allocator when memory runs out.
class OomReport {
 public:
  virtual ~OomReport() = default;
  /// Right after this request was refused: what the original prints then.
  virtual std::string oom_report(const Request& request) const = 0;
};

/// What a strategy can do that not every one can; null where it cannot. The pointers are the same
/// and valid as long as the strategy lives: look them up once, not at every event.
struct Abilities {
  ProgramSteps* steps = nullptr;
  PrivatePools* pools = nullptr;
  Adoption* adoption = nullptr;
  const Prefetch* prefetch = nullptr;
  const OomReport* oom_report = nullptr;
};

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

  friend bool operator==(const FreeSpace&, const FreeSpace&) = default;
};

}  // namespace memreplay
