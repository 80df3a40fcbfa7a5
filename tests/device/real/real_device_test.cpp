#include "device/real/real_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "device/host/pointer.hpp"
#include "support/real_memories.hpp"

namespace memreplay {
namespace {

using Regions = RealDeviceOptions::Regions;
constexpr Regions kAllRegions[] = {Regions::allocated, Regions::mapped,
                                   Regions::mapped_in_granules};
constexpr Bytes kWhatEveryMachineHas = 64;  ///< granules

std::uint8_t& byte_at(const RealDevice& device, Address at) {
  const auto ranges = device.ranges(at, 1);
  if (ranges.size() != 1) throw std::logic_error("no memory behind an address");
  return *pointer_to<std::uint8_t>(ranges.front().address);
}

void expect_same(const DeviceModel& real, const DeviceModel& simulated) {
  const DeviceUsage& a = real.usage();
  const DeviceUsage& b = simulated.usage();
  EXPECT_EQ(a.held, b.held);
  EXPECT_EQ(a.peak_held, b.peak_held);
  EXPECT_EQ(a.allocs, b.allocs);
  EXPECT_EQ(a.frees, b.frees);
  EXPECT_EQ(a.maps, b.maps);
  EXPECT_EQ(a.unmaps, b.unmaps);
  EXPECT_EQ(a.refusals, b.refusals);
  EXPECT_EQ(a.regions, b.regions);
  EXPECT_EQ(a.peak_regions, b.peak_regions);
  EXPECT_EQ(real.free_bytes(), simulated.free_bytes());
  EXPECT_EQ(real.total_bytes(), simulated.total_bytes());
}

/// Asks a real and a simulated device for the same at random. The obvious model of the memory is
/// one number for each granule of addresses: which granule of memory it shows.
class RandomCalls {
 public:
  RandomCalls(RealMemory& memory, Regions regions, std::uint64_t seed)
      : granule_(memory.facts().granularity),
        regions_kind_(regions),
        capacity_(kWhatEveryMachineHas * granule_),
        real_(memory, {.capacity = capacity_, .reserve = granule_, .regions = regions}),
        simulated_({.capacity = capacity_, .reserve = granule_, .granularity = granule_}),
        random_(seed) {}

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
        return obtain();
      case 2:
        return give_back();
      case 3:
        return reserve();
      case 4:
        return map();
      case 5:
        return unmap();
      case 6:
        return alias();
      default:
        return release();
    }
  }

  /// One granule is written, and all that is there still shows what was written to it.
  void look() {
    expect_same(real_, simulated_);
    if (shows_.empty()) return;
    auto some = std::next(shows_.begin(), static_cast<std::ptrdiff_t>(below(shows_.size())));
    contents_[some->second] = byte_at(real_, some->first) = static_cast<std::uint8_t>(random_());
    for (const auto& [at, cell] : shows_) {
      ASSERT_EQ(byte_at(real_, at), contents_.at(cell)) << std::hex << at;
    }
  }

  std::uint64_t refusals() const { return simulated_.usage().refusals; }
  std::uint64_t aliases() const { return aliased_; }

 private:
  struct Reservation {
    Bytes size = 0;
    std::map<Address, Bytes> runs{};  ///< mapped
    bool is_alias = false;
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  template <typename Map>
  auto any_of(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(below(map.size())));
  }

  void show_new(Address at, Bytes size) {
    for (Bytes offset = 0; offset < size; offset += granule_) {
      shows_[at + offset] = ++cells_;
      contents_[cells_] = byte_at(real_, at + offset) = static_cast<std::uint8_t>(cells_);
    }
  }
  void hide(Address at, Bytes size) {
    shows_.erase(shows_.lower_bound(at), shows_.lower_bound(at + size));
  }
  bool is_aliased(Address at, Bytes size) const {
    return std::ranges::any_of(aliases_, [&](const auto& alias) {
      const auto& [of, length] = alias.second;
      return of < at + size && at < of + length;
    });
  }

  void obtain() {
    const Bytes size = 1 + below(8 * granule_);
    const auto region = real_.obtain(size);
    ASSERT_EQ(region, simulated_.obtain(size));
    if (!region) return;
    regions_[*region] = size;
    show_new(*region, size);
  }

  void give_back() {
    if (regions_.empty()) return;
    const auto [at, size] = *any_of(regions_);
    if (is_aliased(at, size)) return;
    real_.give_back(at);
    simulated_.give_back(at);
    hide(at, size);
    regions_.erase(at);
  }

  void reserve() {
    const Bytes size = (1 + below(12)) * granule_;
    const auto at = real_.reserve(size);
    ASSERT_EQ(at, simulated_.reserve(size));
    reservations_[*at] = {size};
  }

  void map() {
    if (reservations_.empty()) return;
    auto& [from, reservation] = *any_of(reservations_);
    if (reservation.is_alias) return;
    const Address at = from + below(reservation.size / granule_) * granule_;
    const Bytes size = (1 + below((from + reservation.size - at) / granule_)) * granule_;
    for (const auto& [run, length] : reservation.runs) {
      if (run < at + size && at < run + length) return;
    }
    const bool granted = real_.map(at, size, granule_);
    ASSERT_EQ(granted, simulated_.map(at, size, granule_));
    if (!granted) return;
    reservation.runs[at] = size;
    show_new(at, size);
  }

  void unmap() {
    if (reservations_.empty()) return;
    auto& runs = any_of(reservations_)->second.runs;
    if (runs.empty()) return;
    const auto [run, length] = *any_of(runs);
    const Address at = run + below(length / granule_) * granule_;
    const Bytes size = (1 + below((run + length - at) / granule_)) * granule_;
    if (is_aliased(at, size)) return;
    real_.unmap(at, size);
    simulated_.unmap(at, size);
    hide(at, size);
    runs.erase(run);
    if (at > run) runs[run] = at - run;
    if (at + size < run + length) runs[at + size] = run + length - at - size;
  }

  void alias() {
    if (reservations_.empty()) return;
    auto& [at, target] = *any_of(reservations_);
    if (target.is_alias || !target.runs.empty()) return;
    std::map<Address, Bytes> sources;
    for (const auto& [from, reservation] : reservations_)
      sources.insert(reservation.runs.begin(), reservation.runs.end());
    if (regions_kind_ == Regions::mapped_in_granules) {
      for (const auto& [region, size] : regions_) sources[region] = round_up(size, granule_);
    }
    if (sources.empty()) return;
    const auto [of, length] = *any_of(sources);
    if (length > target.size) return;
    real_.alias(at, of, length, granule_);
    simulated_.alias(at, of, length, granule_);
    for (Bytes offset = 0; offset < length; offset += granule_) {
      shows_[at + offset] = shows_.at(of + offset);
    }
    target.is_alias = true;
    aliases_[at] = {of, length};
    ++aliased_;
  }

  void release() {
    if (reservations_.empty()) return;
    const auto found = any_of(reservations_);
    const auto& [at, reservation] = *found;
    if (!reservation.runs.empty()) return;
    if (reservation.is_alias) {
      real_.unalias(at);
      simulated_.unalias(at);
      hide(at, reservation.size);
      aliases_.erase(at);
    }
    real_.release(at);
    simulated_.release(at);
    reservations_.erase(found);
  }

  Bytes granule_;
  Regions regions_kind_;
  Bytes capacity_;
  RealDevice real_;
  SimulatedDevice simulated_;
  std::mt19937_64 random_;
  std::map<Address, Bytes> regions_;
  std::map<Address, Reservation> reservations_;
  std::map<Address, std::pair<Address, Bytes>> aliases_;  ///< what each shows
  std::map<Address, std::uint64_t> shows_;
  std::map<std::uint64_t, std::uint8_t> contents_;
  std::uint64_t cells_ = 0;
  std::uint64_t aliased_ = 0;
};

using RealDevices = RealMemoryTest;
MEMREPLAY_ON_REAL_MEMORY(RealDevices);

TEST_P(RealDevices, AnswerAsASimulatedOneAndTheirMemoryIsSeparate) {
  for (const Regions regions : kAllRegions) {
    RandomCalls calls(*memory, regions, 1 + static_cast<std::uint64_t>(regions));
    for (int i = 0; i < 600; ++i) {
      calls.step();
      calls.look();
      if (HasFailure()) return;
    }
    EXPECT_GT(calls.refusals(), 5u);
    EXPECT_GT(calls.aliases(), 5u);
  }
}

TEST_P(RealDevices, WhatTouchesHereTouchesThereWhereRegionsAreMapped) {
  for (const Regions regions : {Regions::mapped, Regions::mapped_in_granules}) {
    RealDevice device(*memory, {.regions = regions});
    const Address first = *device.obtain(granule);
    const Address second = *device.obtain(3 * granule - 1);
    ASSERT_EQ(second, first + granule);
    const auto both = device.ranges(first, 3 * granule);
    ASSERT_EQ(both.size(), 1u);
    EXPECT_EQ(both.front().size, 3 * granule);
  }
}

TEST_P(RealDevices, ARangeEndsWhereNoMemoryIs) {
  RealDevice device(*memory, {.regions = Regions::mapped});
  const Address first = *device.obtain(granule);
  const Address second = *device.obtain(granule);
  device.give_back(second);
  const auto found = device.ranges(first, 2 * granule);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().size, granule);
  EXPECT_TRUE(device.ranges(second, 1).empty());
}

TEST_P(RealDevices, OfAnAllocatedRegionOnlyWhatWasAskedForIsThere) {
  RealDevice device(*memory, {});
  const Address region = *device.obtain(granule + 8);
  EXPECT_EQ(device.usage().held, 2 * granule);
  EXPECT_EQ(device.ranges(region, 2 * granule).front().size, granule + 8);
}

TEST_P(RealDevices, AnAddressReservedBetweenRegionsCostsNoFurtherWindow) {
  RealDevice device(*memory, {.regions = Regions::mapped});
  const Address first = *device.obtain(granule);
  const Address between = *device.reserve(granule);
  const Address second = *device.obtain(granule);
  ASSERT_EQ(second, first + 2 * granule);
  EXPECT_EQ(device.ranges(second, 1).front().address - device.ranges(first, 1).front().address,
            2 * granule);
  device.release(between);
}

TEST_P(RealDevices, AdoptedRegionsHaveMemoryAndCanBeReturned) {
  RealDevice device(*memory, {});
  const Address region = 0x7f0000000000;
  const Address run = 0x7f1000000000;
  device.adopt(region, 2 * granule, false);
  device.adopt(run, 4 * granule, true);
  byte_at(device, region + 2 * granule - 1) = 1;
  byte_at(device, run + 4 * granule - 1) = 2;
  EXPECT_EQ(device.usage().held, 6 * granule);
  ASSERT_TRUE(device.map(run + 4 * granule, 2 * granule, granule));
  EXPECT_EQ(device.ranges(run, 6 * granule).size(), 1u);
  device.unmap(run + granule, 5 * granule);
  device.give_back(region);
  EXPECT_EQ(device.usage().held, granule);
  EXPECT_EQ(device.not_adopted(), 0u);
}

TEST_P(RealDevices, WhatFindsNoRoomWhenItIsAdoptedHasNoMemoryButCanBeReturned) {
  RealDevice device(*memory, {});
  const Bytes too_large = round_up(2 * memory->facts().total, granule);
  device.adopt(0x7f0000000000, too_large, false);
  EXPECT_EQ(device.not_adopted(), 1u);
  EXPECT_EQ(device.usage().held, too_large);
  EXPECT_EQ(device.usage().refusals, 1u);
  EXPECT_TRUE(device.ranges(0x7f0000000000, 1).empty());
  device.give_back(0x7f0000000000);
  EXPECT_EQ(device.usage().held, 0u);
}

TEST_P(RealDevices, ADriverThatIsFullerThanItSaidRefusesAndNothingIsKept) {
  const Bytes total = memory->facts().total;
  for (const Regions regions : {Regions::allocated, Regions::mapped}) {
    RealDevice device(*memory, {.capacity = 8 * total, .regions = regions});
    EXPECT_FALSE(device.obtain(2 * total));
    const Bytes whole = round_up(2 * total, granule);
    const Address range = *device.reserve(whole);
    EXPECT_FALSE(device.map(range, whole, whole));
    EXPECT_EQ(device.usage().refusals, 2u);
    EXPECT_EQ(device.usage().held, 0u);
    EXPECT_EQ(device.usage().allocs + device.usage().maps, 0u);
    EXPECT_TRUE(device.obtain(granule));
    EXPECT_TRUE(device.map(range, granule, granule));
  }
}

TEST_P(RealDevices, OthersUseOfTheDeviceIsNotFree) {
  const RealDevice device(*memory, {.reserve = granule});
  EXPECT_EQ(device.total_bytes(), memory->facts().total);
  EXPECT_LE(device.free_bytes(), memory->free_bytes());
}

TEST_P(RealDevices, HaveNoCopy) {
  const RealDevice device(*memory, {});
  EXPECT_THROW(device.clone(), std::logic_error);
}

#ifdef MEMREPLAY_STAND_IN_DRIVER
constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

using RealDeviceOnStandIn = StandInTest;

TEST_F(RealDeviceOnStandIn, WhereThereIsNoRoomForALongWindowShortOnesGrow) {
  RealDevice device(open(), {});
  const Bytes granule = memory->facts().granularity;
  const Address run = 0x7f0000000000;
  stand_in().fail_call("cuMemAddressReserve", 1, kOutOfMemory);
  device.adopt(run, 4 * granule, true);
  stand_in().fail_call("cuMemAddressReserve", 1, kOutOfMemory);
  ASSERT_TRUE(device.map(run + 4 * granule, 4 * granule, granule));
  byte_at(device, run + 8 * granule - 1) = 1;
  device.unmap(run, 8 * granule);
  ASSERT_TRUE(device.map(run, 8 * granule, granule));
  EXPECT_EQ(device.ranges(run, 8 * granule).size(), 1u);
  byte_at(device, run + 8 * granule - 1) = 1;
}

TEST_F(RealDeviceOnStandIn, WhatTheDriverFailsToTakeBackAtTheEndIsGivenOnceMore) {
  for (const char* call :
       {"cuCtxSynchronize", "cuMemUnmap", "cuMemRelease", "cuMemAddressFree", "cuMemFree"}) {
    stand_in().reset();
    {
      RealDevice device(open(), {});
      ASSERT_TRUE(device.obtain(1));
      device.adopt(0x7f0000000000, 8 * kMiB, true);
      stand_in().fail_call(call, 1, kOutOfMemory);
    }
    EXPECT_EQ(std::string(stand_in().failed_call()), call);
    memory.reset();
    EXPECT_EQ(stand_in().leaks(), 0u) << stand_in().leaks_text();
  }
}
#endif

}  // namespace
}  // namespace memreplay
