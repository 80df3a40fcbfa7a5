#include "analysis/vary/length.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace memreplay {
namespace {

constexpr Bytes kLongest = Bytes{1} << 62;
constexpr std::int64_t kMostBy = 64;
constexpr std::int64_t kMostPlus = 16;  ///< where nothing is divided
constexpr std::int64_t kMostMore = 5;

Bytes raised(Bytes x, int power) {
  Bytes result = 1;
  for (int i = 0; i < power; ++i) result = bounded_product(result, x);
  return result;
}

/// Without common divisor.
std::vector<Bytes> growth_of(std::span<const Bytes> sizes) {
  Bytes common = 0;
  for (const Bytes size : sizes) common = std::gcd(common, size);
  std::vector<Bytes> growth;
  for (const Bytes size : sizes) growth.push_back(common == 0 ? 0 : size / common);
  return growth;
}

constexpr std::array<std::int64_t, 6> kPatches = {16, 14, 32, 8, 28, 64};

bool is_patch(std::int64_t by) { return std::ranges::find(kPatches, by) != kPatches.end(); }

bool is_power_of_two(std::int64_t value) {
  return std::has_single_bit(static_cast<std::uint64_t>(value));
}

}  // namespace

Bytes bounded_product(Bytes a, Bytes b) { return a != 0 && b > kLongest / a ? kLongest : a * b; }

bool Length::is_usual() const { return more <= 1 && (is_power_of_two(by) || is_patch(by)); }

Bytes Length::at(std::int64_t x) const {
  if (x > static_cast<std::int64_t>(kLongest / 2)) return kLongest;
  const std::int64_t part = times * x + plus;
  if (part < by) return 0;
  return raised(static_cast<Bytes>(part / by), power) + static_cast<Bytes>(more);
}

// In the order of how plain they are.
Lengths::Lengths(const std::vector<std::int64_t>& values) : values_(values) {
  for (int power = 1; power <= 4; ++power) add({.power = power});
  // Padding rounds up, pooling down.
  for (std::int64_t by = 2; by <= kMostBy; by *= 2) {
    for (const int power : {2, 1, 4}) {
      add({.by = by, .power = power});
      add({.plus = by - 1, .by = by, .power = power});
    }
  }
  for (std::int64_t more = 1; more <= kMostMore; ++more) {
    for (const std::int64_t by : kPatches) add({.by = by, .power = 2, .more = more});
  }
  for (std::int64_t more = 1; more <= kMostMore; ++more) {
    for (std::int64_t by = 2; by <= kMostBy; ++by) {
      if (!is_patch(by)) add({.by = by, .power = 2, .more = more});
    }
  }
  for (std::int64_t plus = 1; plus <= kMostPlus; ++plus) {
    for (const int power : {1, 2}) {
      add({.plus = -plus, .power = power});
      add({.plus = plus, .power = power});
      if (plus == 1) add({.plus = -1, .power = power, .times = 2});
      if (plus == 1) add({.plus = 1, .power = power, .times = 2});
    }
  }
  for (std::int64_t by = 3; by <= kMostBy; ++by) {
    for (const int power : {2, 1, 4}) {
      if (!is_power_of_two(by)) add({.by = by, .power = power});
      if (!is_power_of_two(by)) add({.plus = by - 1, .by = by, .power = power});
    }
  }
  // Layers without padding lose an edge each.
  for (const auto& [fewest, most] : {std::pair<int, int>{1, 3}, {3, 8}}) {
    for (std::int64_t by = 2; by <= kMostBy; by *= 2) {
      for (std::int64_t plus = fewest == 1 ? 1 : fewest * by + 1; plus <= most * by; ++plus) {
        for (const int power : {2, 1, 4}) {
          if (plus < by - 1) add({.plus = plus, .by = by, .power = power});
          add({.plus = -plus, .by = by, .power = power});
        }
      }
    }
  }
}

void Lengths::add(const Length& length) {
  std::vector<Bytes> lengths;
  for (const std::int64_t value : values_) lengths.push_back(length.at(value));
  if (lengths.front() == 0 || lengths.back() == kLongest || lengths.front() == lengths.back())
    return;
  by_growth_[growth_of(lengths)].push_back(length);
}

std::span<const Length> Lengths::of(std::span<const Bytes> sizes) const {
  const auto found = by_growth_.find(growth_of(sizes));
  if (found == by_growth_.end()) return {};
  return found->second;
}

}  // namespace memreplay
