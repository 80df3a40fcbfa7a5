#include "analysis/vary/law_family.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace memreplay {
namespace {

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

}  // namespace memreplay
