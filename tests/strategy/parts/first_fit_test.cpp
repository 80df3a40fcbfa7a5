#include "strategy/parts/first_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace memreplay {
namespace {

TEST(FirstFit, AgreesWithAMapOnRandomChanges) {
  FirstFit tested;
  std::map<Address, Bytes> known;
  std::mt19937_64 random(1);
  for (int step = 0; step < 30000; ++step) {
    // Grows, then shrinks to nothing.
    if (random() % 100 < (step < 15000 ? 60u : 35u)) {
      const Address address = random() % 100000 * 16;
      if (known.contains(address)) continue;
      known[address] = 1 + random() % 1000;
      tested.insert(address, known[address], static_cast<Handle>(address / 16));
    } else if (!known.empty()) {
      auto victim = known.lower_bound(random() % 1600000);
      if (victim == known.end()) victim = known.begin();
      const Address address = victim->first;
      if (random() % 4 == 0) {
        victim->second = 1 + random() % 1000;
        tested.replace(address, address, victim->second, static_cast<Handle>(address / 16));
      } else {
        known.erase(victim);
        tested.erase(address);
      }
    }
    if (step % 7 != 0) continue;
    const Wanted wanted{1 + random() % 1100, Bytes{1} << random() % 8};
    const Address from = random() % 2 ? 0 : random() % 1600000;
    const auto expected = std::find_if(known.lower_bound(from), known.end(), [&](auto& block) {
      return wanted.fits(block.first, block.second);
    });
    ASSERT_EQ(tested.lowest(wanted, from),
              expected == known.end() ? kNoHandle : expected->first / 16);
    Bytes largest = 0;
    for (const auto& [address, size] : known) largest = std::max(largest, size);
    ASSERT_EQ(tested.largest(), largest);
  }
}

}  // namespace
}  // namespace memreplay
