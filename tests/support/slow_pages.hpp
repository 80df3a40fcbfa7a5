#pragma once

#include <algorithm>
#include <vector>

#include "support/slow_device.hpp"

namespace memreplay {

/// Pages as a slow model sees them: free ranges in one list. The smallest that is large enough
/// serves, the lowest of equals.
struct SlowPages {
  struct Range {
    Bytes address;
    Bytes size;
  };

  SlowDevice device;
  Bytes page;
  std::vector<Range> regions = {};
  std::vector<Range> free = {};

  /// `grew`: a region had to be taken.
  std::optional<Bytes> take(Bytes size, Bytes alignment, Bytes growth, bool* grew = nullptr) {
    const Bytes needed = alignment > page ? size + alignment - page : size;
    if (const auto at = cut(needed, size, alignment)) return at;
    Bytes region = std::max(growth, needed);
    auto address = device.obtain(region);
    if (!address) {
      return_idle();
      region = needed;
      address = device.obtain(region);
    }
    if (!address) return std::nullopt;
    if (grew) *grew = true;
    regions.push_back({*address, region});
    free.push_back({*address, region});
    return cut(needed, size, alignment);
  }

  void put(Bytes address, Bytes size) {
    Range range{address, size};
    const auto begins_region = [&](Bytes at) {
      return std::any_of(regions.begin(), regions.end(),
                         [&](const Range& region) { return region.address == at; });
    };
    for (std::size_t i = 0; i < free.size();) {
      const Range other = free[i];
      const bool below = other.address + other.size == range.address;
      const bool above = range.address + range.size == other.address;
      if ((!below && !above) || begins_region(below ? range.address : other.address)) {
        ++i;
        continue;
      }
      range = {std::min(range.address, other.address), range.size + other.size};
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    free.push_back(range);
  }

  void return_idle() {
    std::erase_if(regions, [&](const Range& region) {
      const auto whole = std::find_if(free.begin(), free.end(), [&](const Range& range) {
        return range.address == region.address && range.size == region.size;
      });
      if (whole == free.end()) return false;
      free.erase(whole);
      device.give_back(region.size);
      return true;
    });
  }

 private:
  std::optional<Bytes> cut(Bytes needed, Bytes size, Bytes alignment) {
    int best = -1;
    for (int i = 0; i < static_cast<int>(free.size()); ++i) {
      if (free[i].size < needed) continue;
      if (best < 0 || std::pair(free[i].size, free[i].address) <
                          std::pair(free[best].size, free[best].address)) {
        best = i;
      }
    }
    if (best < 0) return std::nullopt;
    const Range range = free[best];
    free.erase(free.begin() + best);
    const Bytes at = round_up(range.address, alignment);
    if (at != range.address) free.push_back({range.address, at - range.address});
    const Bytes end = range.address + range.size;
    if (at + size != end) free.push_back({at + size, end - at - size});
    return at;
  }
};

}  // namespace memreplay
