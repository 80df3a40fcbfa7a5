#include "extensions/what_if/vary/law_family.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

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

constexpr LawWide kLargest = LawWide{1} << 62;    ///< sizes beyond it are out of memory anyway
constexpr LawWide kMostPower = LawWide{1} << 62;  ///< the most that x^degree may be

LawWide floor_of(LawWide numerator, LawWide denominator) {
  const LawWide quotient = numerator / denominator;
  return numerator % denominator < 0 ? quotient - 1 : quotient;
}

constexpr std::size_t kMostLengths = 8;
constexpr std::int64_t kLeastPart = 4;  ///< parts of a side that was divided
constexpr std::size_t kOften = 3;

std::vector<std::int64_t> values_of(std::span<const SizeAt> points) {
  std::vector<std::int64_t> values;
  for (const SizeAt& point : points) values.push_back(point.at);
  return values;
}

/// What a side was divided into, as it is where the side is x.
std::int64_t parts_of(const Length& length, std::int64_t x) {
  return (length.times * x + length.plus) / length.by;
}

/// A length that is its parameter, and so much more.
std::optional<Length> shifted(std::span<const SizeAt> points, int degree) {
  const auto t = PowerLine{points.front(), points.back(), degree}.terms();
  if (!t || !t->whole() || t->slope <= 0) return std::nullopt;
  const LawWide slope = t->slope / t->over;
  const LawWide constant =
      static_cast<LawWide>(points.front().size) - slope * *raised_to(points.front().at, degree);
  if (constant < 0 || constant % slope != 0) return std::nullopt;
  const auto more = static_cast<std::int64_t>(constant / slope);
  return degree == 1 ? Length{.plus = more} : Length{.power = degree, .more = more};
}

}  // namespace

Rounding rounding_of(const Length& length) {
  if (length.plus < 0) return Rounding::without_edges;
  return length.plus > 0 ? Rounding::up : Rounding::down;
}

bool leaves_few(const Length& length, std::span<const SizeAt> points) {
  return length.by > 1 && parts_of(length, points.front().at) < kLeastPart;
}

std::vector<Length> lengths_of(std::span<const SizeAt> points, const LawFamily& family) {
  const auto known = family.known.find(values_of(points));
  if (known == family.known.end()) return {};
  std::vector<Bytes> sizes;
  for (const SizeAt& point : points) sizes.push_back(point.size);
  const std::span<const Length> all = known->second.of(sizes);
  std::vector<Length> possible;
  std::ranges::copy_if(all, std::back_inserter(possible), [&](const Length& length) {
    return family.loses_edges || length.by == 1 || rounding_of(length) != Rounding::without_edges;
  });
  return possible;
}

LawFamily family_of(std::span<const std::vector<SizeAt>> blocks) {
  LawFamily family;
  std::set<std::vector<SizeAt>> seen;  // each way to grow once
  std::vector<std::span<const SizeAt>> growing;
  for (const std::vector<SizeAt>& points : blocks) {
    if (points.size() < 2 || points.back().size <= points.front().size) continue;
    if (!seen.insert(points).second) continue;
    growing.emplace_back(points);
    family.largest = std::max(family.largest, points.back().size);
    const std::vector<std::int64_t> values = values_of(points);
    if (!family.known.contains(values)) family.known.emplace(values, Lengths(values));
  }
  std::size_t squares = 0;
  std::size_t plain = 0;
  for (const std::span<const SizeAt> points : growing) {
    const std::vector<Length> lengths = lengths_of(points, family);
    if (lengths.empty()) continue;
    const bool linear = std::ranges::any_of(
        lengths, [](const Length& l) { return l.by == 1 && l.power == 1 && l.more == 0; });
    ++(linear ? plain : squares);
    const Length& first = lengths.front();
    family.loses_edges |= first.by == 1 && first.power == 2 && first.plus < 0;
  }
  family.degree = squares > plain ? 2 : 1;
  std::vector<std::pair<std::size_t, Length>> counted;
  const auto count = [&](const Length& length) {
    const auto known = std::ranges::find(counted, length, [](const auto& c) { return c.second; });
    if (known != counted.end()) ++known->first;
    if (known == counted.end()) counted.emplace_back(1, length);
  };
  for (const std::span<const SizeAt> points : growing) {
    const std::vector<Length> lengths = lengths_of(points, family);
    const auto many = [&](const Length& l) { return !leaves_few(l, points); };
    auto likely =
        std::ranges::find_if(lengths, [&](const Length& l) { return many(l) && l.is_usual(); });
    if (likely == lengths.end()) likely = std::ranges::find_if(lengths, many);
    if (likely != lengths.end()) {
      count(*likely);
    } else if (const auto length = shifted(points, family.degree)) {
      count(*length);
    }
  }
  std::ranges::stable_sort(counted, std::ranges::greater{}, [](const auto& c) { return c.first; });
  for (const auto& [times, length] : counted) {
    const bool known_kind = length.by == 1 || (family.degree == 2 && length.is_usual());
    const bool enough = known_kind || times >= kOften;
    if (enough && family.lengths.size() < kMostLengths) family.lengths.push_back(length);
  }
  return family;
}

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

std::optional<LawWide> raised_to(std::int64_t x, int degree) {
  LawWide result = 1;
  for (int i = 0; i < degree; ++i) {
    result *= x;
    if (result > kMostPower) return std::nullopt;
  }
  return result;
}

Bytes nearest_size(LawWide numerator, LawWide denominator) {
  const LawWide nearest = floor_of(2 * numerator + denominator, 2 * denominator);
  return static_cast<Bytes>(std::clamp<LawWide>(nearest, 0, kLargest));
}

std::optional<Terms> PowerLine::terms() const {
  const auto low_power = raised_to(low.at, degree);
  const auto high_power = raised_to(high.at, degree);
  if (!low_power || !high_power || *low_power == *high_power) return std::nullopt;
  const auto a = static_cast<LawWide>(low.size);
  const LawWide slope = static_cast<LawWide>(high.size) - a;
  return Terms{a * (*high_power - *low_power) - slope * *low_power, slope,
               *high_power - *low_power};
}

Bytes PowerLine::at(std::int64_t x) const {
  const auto t = terms();
  if (!t) return low.size;
  const auto raised = raised_to(x, degree);
  if (!raised) return static_cast<Bytes>(kLargest);
  // Both products keep within 126 bits, as sizes and powers keep within 62.
  return nearest_size(t->constant + t->slope * *raised, t->over);
}

}  // namespace memreplay
