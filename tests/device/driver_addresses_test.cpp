#include "device/driver_addresses.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/recorded_rows.hpp"

namespace memreplay {
namespace {

constexpr Address kTop = Address{1} << 47;
constexpr Bytes kPiece = 32 * kMiB;

/// MiB below the top.
std::optional<Bytes> below(std::optional<Address> at) {
  if (!at) return std::nullopt;
  return (kTop - *at) / kMiB;
}

TEST(DriverAddresses, RunsGoDownInWholePieces) {
  DriverAddresses addresses(kTop);
  EXPECT_EQ(below(addresses.take(20 * kMiB)), 32u);
  EXPECT_EQ(below(addresses.take(40 * kMiB)), 96u);
  EXPECT_EQ(below(addresses.take(64 * kMiB)), 160u);
}

TEST(DriverAddresses, WhatARunLeavesGoesToLaterRequestsTheNewestFirst) {
  DriverAddresses addresses(kTop);
  addresses.take(20 * kMiB);
  addresses.take(40 * kMiB);
  EXPECT_EQ(below(addresses.take(10 * kMiB)), 56u);
  EXPECT_EQ(below(addresses.take(10 * kMiB)), 46u);
  EXPECT_EQ(below(addresses.take(10 * kMiB)), 12u);
  EXPECT_EQ(below(addresses.take(1)), 36u);  // a piece, for it and others
}

TEST(DriverAddresses, ARunWhoseLastRangeIsGivenBackIsFreeAgain) {
  DriverAddresses addresses(kTop);
  const auto high = addresses.take(20 * kMiB);
  const auto small = addresses.take(2 * kMiB);
  const auto beside = addresses.take(20 * kMiB);
  addresses.give_back(*high);
  // Its run is held by the small one: only what fits beside it goes there.
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 96u);
  EXPECT_EQ(below(addresses.take(20 * kMiB)), 32u);
  addresses.give_back(*high);
  addresses.give_back(*small);
  addresses.give_back(*beside);
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 32u);
}

TEST(DriverAddresses, TheHighestFreeAddressesThatAreLongerAreTaken) {
  DriverAddresses addresses(kTop);
  std::vector<Address> regions;
  for (int i = 0; i < 6; ++i) regions.push_back(*addresses.take(32 * kMiB));
  for (const int i : {1, 3, 4}) addresses.give_back(regions[static_cast<std::size_t>(i)]);
  EXPECT_EQ(below(addresses.take(64 * kMiB)), 256u);
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 128u);
  addresses.give_back(regions[5]);
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 160u);
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 288u);
  EXPECT_EQ(below(addresses.take(32 * kMiB)), 320u);
}

TEST(DriverAddresses, InARunTheSmallestHoleIsTakenOfEqualOnesTheLowest) {
  DriverAddresses addresses(kTop);
  std::vector<Address> regions;
  for (int i = 0; i < 12; ++i) regions.push_back(*addresses.take(2 * kMiB));
  for (const int i : {1, 2, 4, 7}) addresses.give_back(regions[static_cast<std::size_t>(i)]);
  EXPECT_EQ(addresses.take(2 * kMiB), regions[4]);
  EXPECT_EQ(addresses.take(2 * kMiB), regions[7]);
  EXPECT_EQ(addresses.take(2 * kMiB), regions[1]);
  EXPECT_EQ(addresses.take(4 * kMiB), regions[11] + 2 * kMiB);
}

TEST(DriverAddresses, ClaimedRegionsHaveRestsAndTheLowerIsTheNewer) {
  DriverAddresses addresses(kTop);
  addresses.claim(kTop - 4 * kPiece, 20 * kMiB);
  addresses.claim(kTop - 8 * kPiece, 20 * kMiB);
  EXPECT_EQ(addresses.take(10 * kMiB), kTop - 8 * kPiece + 20 * kMiB);
  EXPECT_EQ(addresses.take(10 * kMiB), kTop - 4 * kPiece + 20 * kMiB);
  // What lies above and was never given back is somebody else's.
  EXPECT_EQ(addresses.take(20 * kMiB), kTop - 9 * kPiece);
}

TEST(DriverAddresses, AClaimedRegionOverSeveralRunsIsGivenBackWhole) {
  DriverAddresses addresses(kTop);
  addresses.claim(kTop - 4 * kPiece, 10 * kMiB);
  addresses.claim(kTop - 3 * kPiece + 2 * kMiB, kMiB);
  addresses.claim(kTop - 4 * kPiece + 12 * kMiB, 22 * kMiB);
  EXPECT_THROW(addresses.claim(kTop - 4 * kPiece + 33 * kMiB, kMiB), std::logic_error);
  addresses.give_back(kTop - 4 * kPiece + 12 * kMiB);
  addresses.claim(kTop - 4 * kPiece + 33 * kMiB, kMiB);
  EXPECT_THROW(addresses.give_back(kTop - 4 * kPiece + 12 * kMiB), std::logic_error);
}

TEST(DriverAddresses, OfNoneLeftNoneIsGiven) {
  DriverAddresses addresses(4 * kPiece);
  EXPECT_TRUE(addresses.take(3 * kPiece));
  EXPECT_FALSE(addresses.take(kPiece));
  EXPECT_FALSE(addresses.take(UINT64_MAX));
}

/// The rules of DriverAddresses, told by piece.
class SlowAddresses {
 public:
  Address take(Bytes size) {
    size = round_up(size, 2 * kMiB);
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      std::optional<Address> best;
      Bytes room = UINT64_MAX;
      Address at = run->from;
      const auto look = [&](Address to) {
        if (to - at < size || to - at >= room) return;
        best = at;
        room = to - at;
      };
      for (const auto& [from, to] : run->taken) {
        look(from);
        at = to;
      }
      look(run->to);
      if (!best) continue;
      run->taken[*best] = *best + size;
      return *best;
    }
    const Bytes whole = round_up(size, kPiece);
    Address top = kTop;
    while (!has_room_below(top, whole)) top -= kPiece;
    const Address at = top - whole;
    runs_.push_back({at, at + whole, {{at, at + size}}});
    return at;
  }
  void give_back(Address at) {
    for (Run& run : runs_) run.taken.erase(at);
    std::erase_if(runs_, [](const Run& run) { return run.taken.empty(); });
  }

 private:
  struct Run {
    Address from, to;
    std::map<Address, Address> taken;
  };
  bool is_free(Address from, Address to) const {
    return std::ranges::none_of(runs_,
                                [&](const Run& run) { return run.from < to && from < run.to; });
  }
  /// Just as long does not do.
  bool has_room_below(Address top, Bytes size) const { return is_free(top - size - kPiece, top); }

  std::vector<Run> runs_;  ///< the newest last
};

/// Holes of one piece of 2 MiB, told by unit of 512 bytes.
class SlowPiece {
 public:
  bool is_free() const {
    return std::ranges::none_of(taken_, [](bool taken) { return taken; });
  }
  /// Sizes of the holes, with the time at which each came to be.
  std::map<std::size_t, std::pair<std::size_t, int>> holes() const {
    std::map<std::size_t, std::pair<std::size_t, int>> found;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      const std::size_t from = i;
      while (i < taken_.size() && !taken_[i]) ++i;
      found[from] = {i - from, since_[from]};
    }
    return found;
  }
  void set(std::size_t from, std::size_t count, bool taken, int now) {
    for (std::size_t i = from; i < from + count; ++i) taken_[i] = taken;
    std::size_t begin = from;
    std::size_t end = from + count;
    while (!taken && begin > 0 && !taken_[begin - 1]) --begin;
    while (end < taken_.size() && !taken_[end]) ++end;
    for (std::size_t i = begin; i < end; ++i) since_[i] = now;
  }

 private:
  std::vector<bool> taken_ = std::vector<bool>(4096, false);
  std::vector<int> since_ = std::vector<int>(4096, 0);
};

TEST(DriverAddresses, SmallOnesShareAPieceAsASlowModelSays) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    DriverAddresses addresses(kTop);
    const Address piece = kTop - kPiece;
    SlowPiece slow;
    std::vector<std::pair<std::size_t, std::size_t>> held;  // units: from, count
    for (int now = 1; now < 400; ++now) {
      const std::size_t count = 1 + random() % (random() % 4 == 0 ? 900 : 60);
      std::optional<std::size_t> best;
      const auto holes = slow.holes();
      for (const auto& [from, hole] : holes) {
        if (hole.first >= count && (!best || hole < holes.at(*best))) best = from;
      }
      if (!best || random() % 3 == 0) {
        if (held.empty()) continue;
        std::swap(held[random() % held.size()], held.back());
        slow.set(held.back().first, held.back().second, false, now);
        ASSERT_EQ(addresses.give_back(piece + held.back().first * 512), slow.is_free());
        held.pop_back();
        continue;
      }
      ASSERT_EQ(addresses.charge(count * 512), held.empty() ? 2 * kMiB : 0);
      ASSERT_EQ(addresses.take(count * 512), piece + *best * 512) << seed << ", call " << now;
      slow.set(*best, count, true, now);
      held.emplace_back(*best, count);
    }
  }
}

/// What a driver answered: see DriverAddresses. "a" asks, "f" gives back; each run in a process of
/// its own.
TEST(DriverAddresses, AreThoseThatADriverGave) {
  const auto rows = recorded_rows(MEMREPLAY_DRIVER_CALLS, 4);
  ASSERT_GT(rows.size(), 900u);
  std::string run;
  std::optional<DriverAddresses> addresses;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::exchange(run, rows[i].texts[0]) != rows[i].texts[0]) {
      addresses.emplace(kTop);
      addresses->take_context();
    }
    const Address at = kTop - rows[i].number(3);
    if (rows[i].texts[1] == "f") {
      addresses->give_back(at);
    } else {
      ASSERT_EQ(addresses->take(rows[i].number(2)), at) << run << ", row " << i + 2;
    }
  }
}

TEST(DriverAddresses, AgreeWithASlowModelOnRandomCalls) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    DriverAddresses addresses(kTop);
    SlowAddresses slow;
    std::vector<Address> held;
    for (int call = 0; call < 400; ++call) {
      if (!held.empty() && random() % 5 < 2) {
        const std::size_t which = random() % held.size();
        addresses.give_back(held[which]);
        slow.give_back(held[which]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const Bytes size = (2 + random() % (random() % 4 == 0 ? 150 : 30)) * kMiB;
      const auto at = addresses.take(size);
      ASSERT_EQ(at, slow.take(size)) << "seed " << seed << ", call " << call;
      held.push_back(*at);
    }
  }
}

}  // namespace
}  // namespace memreplay
