#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "strategy/registered.hpp"

namespace memreplay {
namespace {

struct LiveBlock {
  Request request;
  Placement placement;
  bool free_requested = false;
  bool completed = false;  ///< by the strategy, which waited for the streams
  bool moved_out = false;  ///< live, but not on the device
};

/// One strategy on a device of its own, played with random requests and judged after each.
class Player {
 public:
  Player(const StrategyInfo& info, std::optional<Bytes> capacity, AddressPolicy policy)
      : name_(example_of(info)),
        keeps_regions_(info.keeps_regions),
        stitches_(info.stitches),
        capacity_(capacity),
        ledger_(name_),
        simulated_(std::make_unique<SimulatedDevice>(
            SimulatedDeviceOptions{.capacity = capacity, .policy = policy})),
        audited_(std::make_unique<HeardDevice>(*simulated_, ledger_)) {
    strategy_ = make_strategy(parse_strategy(name_),
                              {.device = *audited_, .capacity = capacity, .recorded = &settings_});
    if (strategy_->usage().moved_out != nullptr) ledger_.expect_moves();
  }

  /// A copy of the state, without a ledger, on a copy of the device.
  struct Copy {
    std::unique_ptr<DeviceModel> device;
    std::unique_ptr<Strategy> strategy;
  };
  Copy copy() const {
    Copy made;
    made.device = audited_->clone();
    made.strategy = strategy_->clone(*made.device);
    return made;
  }

  /// Who asked for a block gives it back, under the name that `giver_of` gives.
  void play_by_owners(std::mt19937_64& random, int steps, auto giver_of) {
    for (int step = 0; step < steps; ++step) {
      if (random() % 2 == 0 && !live_.empty()) {
        const std::size_t victim = random() % live_.size();
        give(victim, giver_of(live_[victim].request));
      } else {
        ask({.size = 1 + random() % (Bytes{1} << (6 + random() % 14)),
             .stream = static_cast<StreamIndex>(random() % 3),
             .thread = static_cast<std::uint32_t>(random() % 3)});
      }
    }
  }

  /// Plays steps, on a copy too where one is given, and notes every address.
  void play(std::mt19937_64& random, int steps, Copy* twin = nullptr) {
    for (int step = 0; step < steps; ++step) {
      ++event_;
      const auto dice = random() % 100;
      if (dice < 52 || live_.empty()) {
        allocate(random, twin);
      } else if (dice < 98) {
        free(random() % live_.size(), random() % 4 == 0, twin);
      } else {
        strategy_->empty_cache();
        note_waiting();
        if (twin) twin->strategy->empty_cache();
      }
      check();
    }
  }

  /// What is known to hurt: sizes around powers of two, combs of holes, requests that outgrow every
  /// hole, more than there is, memory that other threads and streams give back.
  void play_adversary() {
    for (Bytes power = 256; power <= 16 * kMiB; power *= 4) {
      for (const Bytes size : {power - 1, power, power + 1}) ask({.size = size});
    }
    free_from_the_front(0);
    for (const Bytes size : {Bytes{512}, Bytes{4095}, kMiB, kMiB + 1, 3 * kMiB}) {
      for (int i = 0; i < 60; ++i) ask({.size = size});
      for (std::size_t i = 0; i < live_.size(); ++i) give(i);  // every other one
      for (int i = 0; i < 15; ++i) ask({.size = 2 * size});
      free_from_the_front(7);
    }
    for (Bytes size = 100'000; size < 40 * kMiB; size += size / 8) {
      ask({.size = size});
      if (live_.size() > 3) give(live_.size() - 2);
    }
    for (int i = 0; i < 5; ++i) ask({.size = 3 * kGiB});
    for (int i = 0; i < 40; ++i) ask({.size = 3000, .thread = 1});
    while (!live_.empty()) give(live_.size() - 1, FreeOrigin{.stream = 1, .thread = 2});
  }

  void free_everything() {
    while (!live_.empty()) free(live_.size() - 1, false, nullptr);
    const Bytes held = simulated_->usage().held;
    strategy_->empty_cache();
    note_waiting();
    check();
    const DeviceUsage& usage = simulated_->usage();
    ASSERT_LE(usage.held, keeps_regions_ ? held : 0)
        << "after empty_cache(); a strategy that keeps regions says keeps_regions in its "
           "StrategyInfo, "
           "also where it leaves empty_cache() as it is";
    if (!keeps_regions_) {
      ASSERT_EQ(usage.allocs, usage.frees);
    }
    if (usage.held == 0) {
      ASSERT_EQ(strategy_->free_space().total, 0u);
    }
  }

  const std::vector<Address>& addresses() const { return addresses_; }
  const Strategy& strategy() const { return *strategy_; }

 private:
  /// A strategy that waited for all streams may use what they held.
  void note_waiting() {
    if (strategy_->usage().syncs == syncs_) return;
    syncs_ = strategy_->usage().syncs;
    ledger_.synchronised();
    for (LiveBlock& block : live_) block.completed |= block.free_requested;
  }

  void ask(const Request& request) {
    ++event_;
    allocate(request, nullptr);
    check();
  }
  void give(std::size_t victim, std::optional<FreeOrigin> giver = {}) {
    ++event_;
    free(victim, false, nullptr, giver);
    check();
  }
  void free_from_the_front(std::size_t left) {
    while (live_.size() > left) give(0);
  }

  void allocate(std::mt19937_64& random, Copy* twin) {
    const Bytes size = 1 + (random() & ((Bytes{1} << (6 + random() % 19)) - 1));
    allocate({.size = size,
              .alignment = random() % 8 ? 0 : Bytes{1} << random() % 10,
              .stream = static_cast<StreamIndex>(random() % 2),
              .thread = static_cast<std::uint32_t>(random() % 3)},
             twin);
  }

  void allocate(const Request& request, Copy* twin) {
    const auto placement = strategy_->allocate(request);
    note_waiting();
    note_moved_out();
    note_moved();
    addresses_.push_back(placement ? placement->address : 0);
    if (twin) {
      const auto same = twin->strategy->allocate(request);
      ASSERT_EQ(same.has_value(), placement.has_value());
      if (same) {
        ASSERT_EQ(same->address, placement->address);
        ASSERT_EQ(same->size, placement->size);
        ASSERT_EQ(same->handle, placement->handle);
      }
    }
    if (!placement) return;
    ledger_.placed(event_, request, *placement);
    live_.push_back({request, *placement});
  }

  void free(std::size_t victim, bool only_request, Copy* twin,
            std::optional<FreeOrigin> other_giver = {}) {
    LiveBlock& block = live_[victim];
    const Handle handle = block.placement.handle;
    const FreeOrigin giver = other_giver.value_or(
        FreeOrigin{static_cast<StreamIndex>(event_ % 3 == 0 ? event_ % 2 : block.request.stream),
                   static_cast<std::uint32_t>(event_ % 5 == 0 ? 1 : block.request.thread)});
    if (only_request && !block.free_requested && !block.moved_out) {
      ledger_.free_requested(event_, block.placement);
      strategy_->request_free(handle);
      if (twin) twin->strategy->request_free(handle);
      block.free_requested = true;
      return;
    }
    if (!block.moved_out) ledger_.freed(event_, block.placement);
    const bool free_requested = block.free_requested;
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(victim));
    for (Strategy* player : {strategy_.get(), twin ? twin->strategy.get() : nullptr}) {
      if (!player) continue;
      free_requested ? player->complete_free(handle) : player->free(handle, giver);
    }
    note_waiting();
    note_moved_out();
  }

  void note_moved_out() {
    if (strategy_->usage().moved_out == nullptr) return;
    for (const Handle moved : *strategy_->usage().moved_out) {
      const auto block = std::find_if(live_.begin(), live_.end(), [&](const LiveBlock& live) {
        return live.placement.handle == moved;
      });
      ASSERT_NE(block, live_.end());
      ASSERT_FALSE(block->moved_out);
      ledger_.moved_out(block->placement);
      block->moved_out = true;
    }
  }

  void note_moved() {
    if (strategy_->usage().moved == nullptr) return;
    for (const Placement& there : *strategy_->usage().moved) {
      const auto block = std::find_if(live_.begin(), live_.end(), [&](const LiveBlock& live) {
        return live.placement.handle == there.handle;
      });
      ASSERT_NE(block, live_.end());
      ASSERT_LT(there.address, block->placement.address);
      ledger_.moved(block->placement, there);
      block->placement = there;
    }
  }

  /// Everything recomputed from scratch.
  void check() const {
    Bytes requested = 0;
    Bytes allocated = 0;
    Bytes completed = 0;
    for (const LiveBlock& block : live_) {
      if (block.completed) completed += block.placement.size;
      if (block.completed || block.moved_out) continue;
      requested += block.request.size;
      allocated += block.placement.size;
    }
    const Bytes reserved = simulated_->usage().held;
    ASSERT_GE(allocated, requested);
    ASSERT_GE(reserved, allocated);
    ASSERT_LE(reserved, capacity_.value_or(UINT64_MAX));
    check_memory_state(allocated, completed);
  }

  /// What completed early is listed as free, or for as long as its owner has not freed it as used.
  void check_memory_state(Bytes allocated, Bytes completed) const {
    Bytes free = 0;
    Bytes used = 0;
    Bytes largest = 0;
    Address last_end = 0;
    for (const SegmentInfo& segment : strategy_->memory_state().segments) {
      ASSERT_GE(segment.address, last_end);
      Address at = segment.address;
      for (const BlockInfo& block : segment.blocks) {
        ASSERT_EQ(block.address, at) << "blocks must tile their segment";
        ASSERT_GT(block.size, 0u);
        at += block.size;
        (block.state == BlockState::free ? free : used) += block.size;
        if (block.state == BlockState::free) largest = std::max(largest, block.size);
      }
      last_end = segment.address + segment.size;
      ASSERT_EQ(at, last_end);
    }
    ASSERT_GE(used, allocated);
    ASSERT_LE(used, allocated + completed);
    ASSERT_EQ(strategy_->free_space().total, free);
    check_free_ranges();
  }

  /// What requests are served from: no live byte, nothing twice, nothing outside.
  void check_free_ranges() const {
    RangeSet unused;
    for (const SegmentInfo& segment : strategy_->memory_state().segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free) {
          unused.insert({block.address, block.address + block.size});
        }
      }
    }
    Bytes largest = 0;
    for (const AddressRange range : strategy_->free_ranges()) {
      ASSERT_TRUE(unused.erase(range)) << range.from << " to " << range.to;
      largest = std::max(largest, range.size());
    }
    ASSERT_LE(strategy_->free_space().largest, stitches_ ? strategy_->free_space().total : largest);
  }

  std::string name_;
  bool keeps_regions_;
  bool stitches_;
  std::optional<Bytes> capacity_;
  Ledger ledger_;
  RecordedSettings settings_;
  std::unique_ptr<SimulatedDevice> simulated_;
  std::unique_ptr<HeardDevice> audited_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<LiveBlock> live_;
  std::vector<Address> addresses_;  ///< by request; 0: not served
  std::uint64_t event_ = 0;
  std::uint64_t syncs_ = 0;
};

struct Setting {
  std::optional<Bytes> capacity;
  AddressPolicy policy = AddressPolicy::upward;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {std::nullopt, AddressPolicy::upward},     {std::nullopt, AddressPolicy::first_fit},
      {std::nullopt, AddressPolicy::cuda_linux}, {256 * kMiB, AddressPolicy::upward},
      {101 * kMiB, AddressPolicy::first_fit},    {256 * kMiB, AddressPolicy::cuda_linux},
      {256 * kMiB, AddressPolicy::downward}};
  return all;
}

class EveryStrategy : public testing::TestWithParam<std::size_t> {
 protected:
  const StrategyInfo& info() const { return strategies()[GetParam()]; }
};

TEST_P(EveryStrategy, KeepsTheRulesOnRandomTraces) {
  for (const Setting& setting : settings()) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(seed);
      Player played(info(), setting.capacity, setting.policy);
      std::mt19937_64 random(seed);
      ASSERT_NO_THROW(played.play(random, 1200));
      if (HasFatalFailure()) return;
      ASSERT_NO_THROW(played.free_everything());
    }
  }
}

TEST_P(EveryStrategy, KeepsTheRulesUnderAnAdversary) {
  for (const Setting& setting : settings()) {
    Player played(info(), setting.capacity, setting.policy);
    ASSERT_NO_THROW(played.play_adversary());
    if (HasFatalFailure()) return;
    ASSERT_NO_THROW(played.free_everything());
  }
}

TEST_P(EveryStrategy, GivesTheSamePlacementsTwice) {
  Player first(info(), 256 * kMiB, AddressPolicy::upward);
  Player second(info(), 256 * kMiB, AddressPolicy::upward);
  std::mt19937_64 random(1), same_random(1);
  first.play(random, 2000);
  second.play(same_random, 2000);
  EXPECT_EQ(first.addresses(), second.addresses());
  EXPECT_EQ(first.strategy().memory_state(), second.strategy().memory_state());
}

TEST_P(EveryStrategy, ACopyInTheMiddleGoesOnTheSame) {
  for (const Setting& setting : settings()) {
    Player played(info(), setting.capacity, setting.policy);
    std::mt19937_64 random(2);
    played.play(random, 1000);
    Player::Copy twin = played.copy();
    const MemoryState before = twin.strategy->memory_state();
    const Player::Copy untouched = played.copy();
    played.play(random, 1000, &twin);
    EXPECT_EQ(twin.strategy->memory_state(), played.strategy().memory_state());
    EXPECT_EQ(untouched.strategy->memory_state(), before);
  }
}

TEST_P(EveryStrategy, ADefaultGiverIsWhoeverAskedForTheBlock) {
  Player named(info(), 256 * kMiB, AddressPolicy::upward);
  Player unnamed(info(), 256 * kMiB, AddressPolicy::upward);
  std::mt19937_64 random(3), same_random(3);
  named.play_by_owners(random, 1000, [](const Request& r) {
    return FreeOrigin{r.stream, r.thread};
  });
  unnamed.play_by_owners(same_random, 1000, [](const Request&) { return FreeOrigin{}; });
  EXPECT_EQ(named.addresses(), unnamed.addresses());
}

TEST_P(EveryStrategy, ARequestBeyondTheDeviceIsNotServedAndDoesNoHarm) {
  SimulatedDevice device({.capacity = 64 * kMiB});
  RecordedSettings recorded;
  const auto strategy =
      make_strategy(parse_strategy(example_of(info())),
                    {.device = device, .capacity = 64 * kMiB, .recorded = &recorded});
  EXPECT_FALSE(strategy->allocate({.size = 65 * kMiB}));
  EXPECT_FALSE(strategy->allocate({.size = UINT64_MAX}));
  EXPECT_FALSE(strategy->allocate({.size = UINT64_MAX - 511}));
  EXPECT_FALSE(strategy->allocate({.size = UINT64_MAX / 2, .alignment = 4096}));
  EXPECT_TRUE(strategy->allocate({.size = kMiB}));
}

/// The strategy with all its sizes times `factor`.
std::string scaled_spec(const StrategyInfo& info, Bytes factor) {
  std::string spec(info.name);
  for (const OptionInfo& option : info.options) {
    if (option.values != "SIZE") continue;
    const auto size = parse_size(option.default_value);
    if (!size) continue;  // "capacity": scaled by itself
    spec += fmt::format("{}{}={}", spec == info.name ? ':' : ',', option.key, *size * factor);
  }
  return spec;
}

/// Peak and end of what is held and charged, in bytes.
std::vector<Bytes> bytes_of_a_run(const std::string& spec, Bytes factor) {
  SimulatedDevice device(
      {.capacity = 200 * kMiB * factor, .granularity = 2 * kMiB * factor, .address_gap = 0});
  const auto strategy =
      make_strategy(parse_strategy(spec), {.device = device, .capacity = 200 * kMiB * factor});
  std::mt19937_64 random(5);
  std::vector<Placement> live;
  std::vector<Bytes> bytes;
  for (int step = 0; step < 2000; ++step) {
    if (live.empty() || random() % 100 < 52) {
      const Bytes size = (1 + (random() & ((Bytes{1} << (6 + random() % 17)) - 1))) * factor;
      if (const auto placement = strategy->allocate({.size = size})) live.push_back(*placement);
    } else {
      const std::size_t victim = random() % live.size();
      strategy->free(live[victim].handle, {});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    Bytes allocated = 0;
    for (const Placement& block : live) allocated += block.size;
    bytes.push_back(allocated / factor);
    bytes.push_back(device.usage().held / factor);
  }
  return bytes;
}

TEST(StrategiesThatScale, AllBytesScaleWithTheSizes) {
  for (const StrategyInfo& info : strategies()) {
    if (!info.scales) continue;  // has sizes that are no options
    SCOPED_TRACE(info.name);
    for (const Bytes factor : {2, 16}) {
      EXPECT_EQ(bytes_of_a_run(scaled_spec(info, factor), factor),
                bytes_of_a_run(scaled_spec(info, 1), 1));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Contract, EveryStrategy, testing::ValuesIn(strategies_to_simulate()),
                         strategy_name);

}  // namespace
}  // namespace memreplay
