#include "extensions/what_if/vary/size_law.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace memreplay {
namespace {

constexpr Bytes kMostSize = Bytes{1} << 62;
/// A block seen once that is no larger belongs to the program, not to its data.
constexpr Bytes kSmall = 4096;
constexpr Bytes kMostOfTable = Bytes{1} << 20;  ///< a table with a number for each token
constexpr std::int64_t kMostPadding = 128;
constexpr Bytes kPaddedBias = 16;
constexpr std::int64_t kMostOfParabola = 1 << 20;
constexpr Bytes kMostByOpen = 4;  ///< times the largest block
constexpr std::array<Bytes, 6> kTiles = {32, 64, 16, 8, 128, 256};
constexpr std::array<Bytes, 5> kTimes = {1, 2, 4, 8, 16};

Bytes tiles_of(Bytes length, Bytes tile) { return length / tile + (length % tile == 0 ? 0 : 1); }

bool goes_through(const SizeLaw& law, std::span<const SizeAt> points) {
  return std::ranges::all_of(points, [&](const SizeAt& p) { return law.at(p.at) == p.size; });
}

using Laws = std::vector<SizeLaw>;

void add_if_through(Laws& laws, std::span<const SizeAt> points, SizeLaw law) {
  if (goes_through(law, points)) laws.push_back(std::move(law));
}

SizeLaw proportion(const SizeAt& point, const Length& length, std::optional<Length> other = {}) {
  return {.kind = SizeLaw::Kind::proportion, .point = point, .length = length, .other = other};
}

bool is_power(const Length& length) { return length == Length{.power = length.power}; }

/// A line with a constant that is not negative.
void add_line(Laws& laws, std::span<const SizeAt> points, int degree, bool whole) {
  SizeLaw law{.kind = SizeLaw::Kind::line, .line = {points.front(), points.back(), degree}};
  const auto t = law.line.terms();
  if (!t || t->constant < 0 || t->slope <= 0 || t->whole() != whole) return;
  add_if_through(laws, points, law);
}

void add_products(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  for (auto a = family.lengths.begin(); a != family.lengths.end(); ++a) {
    for (auto b = a; b != family.lengths.end(); ++b) {
      add_if_through(laws, points, proportion(points.front(), *a, *b));
    }
  }
}

/// Sets the factor by the first point; false where it is not a whole number.
bool set_factor(SizeLaw& law, const SizeAt& point) {
  law.factor = 1;
  const Bytes one = law.at(point.at);
  if (one == 0 || point.size % one != 0) return false;
  law.factor = point.size / one;
  return true;
}

/// Tiles are made of numbers of tokens, not of the pixels of an image.
void add_tiles(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  const auto add = [&](SizeLaw law) {
    if (set_factor(law, points.front())) add_if_through(laws, points, law);
  };
  for (const Bytes tile : kTiles) {
    for (const Length& length : family.lengths) {
      if (length.power == 2 && length.more == 0 && family.degree == 2) continue;
      for (const Bytes times : kTimes) {
        add({.kind = SizeLaw::Kind::tiles, .length = length, .times = times, .tile = tile});
      }
      for (const Length& other : family.lengths) {
        add({.kind = SizeLaw::Kind::padded, .length = length, .other = other, .tile = tile});
      }
    }
  }
}

/// Sides of images that layers divided: into a few rows, or into more.
Laws divided_sides(std::span<const SizeAt> points, const LawFamily& family, bool few) {
  Laws laws;
  const SizeAt& first = points.front();
  for (const Length& length : lengths_of(points, family)) {
    if (is_power(length) || !length.is_usual() || leaves_few(length, points) != few) continue;
    if (first.size % length.at(first.at) == 0) laws.push_back(proportion(first, length));
  }
  return laws;
}

/// Where a few rows are left many lengths fit: those first that round as others do, which at least
/// one has to.
Laws few_rows(std::span<const SizeAt> points, const LawFamily& family) {
  Laws few = divided_sides(points, family, true);
  const auto rounds_as_others = [&](const SizeLaw& law) {
    return std::ranges::any_of(family.lengths, [&](const Length& other) {
      const Rounding rounding = rounding_of(law.length);
      const bool rounds = other.by > 1 || rounding == Rounding::without_edges;
      return rounds && rounding_of(other) == rounding;
    });
  };
  std::stable_partition(few.begin(), few.end(), rounds_as_others);
  if (few.empty() || !rounds_as_others(few.front())) return {};
  return few;
}

void add_unusual_lengths(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  for (const Length& length : lengths_of(points, family)) {
    if (!length.is_usual()) laws.push_back(proportion(points.front(), length));
  }
}

/// What attention kernels pad is seen only where a recorded value is no multiple of it: the
/// tables of small numbers for each token, and the rows of a bias.
void add_padded(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  const Length plain = {};
  const auto all_are_multiples = [&](std::int64_t tile) {
    return std::ranges::all_of(points, [&](const SizeAt& p) { return p.at % tile == 0; });
  };
  const auto add = [&](SizeLaw law) {
    if (set_factor(law, points.front())) add_if_through(laws, points, law);
  };
  if (laws.front().length == plain && points.back().size <= kMostOfTable) {
    for (std::int64_t tile = kPaddedBias; tile <= kMostPadding; tile *= 2) {
      if (!all_are_multiples(tile)) break;
      add({.kind = SizeLaw::Kind::tiles, .length = plain, .tile = static_cast<Bytes>(tile)});
    }
  }
  if (laws.front().length == Length{.power = 2} && family.degree == 1 &&
      all_are_multiples(kPaddedBias)) {
    add({.kind = SizeLaw::Kind::padded, .length = plain, .other = plain, .tile = kPaddedBias});
  }
}

/// b x + c x² of two points.
void add_through_origin(Laws& laws, std::span<const SizeAt> points) {
  if (points.size() != 2 || points.back().at > kMostOfParabola) return;
  // Where the size for each x does not grow, neither does the square's part.
  const auto for_each = [](const SizeAt& p, const SizeAt& other) {
    return static_cast<LawWide>(p.size) * other.at;
  };
  if (for_each(points[1], points[0]) <= for_each(points[0], points[1])) return;
  laws.push_back({.kind = SizeLaw::Kind::parabola,
                  .points = {SizeAt{.at = 0, .size = 0}, points[0], points[1]}});
}

/// a + b x + c x², of which at most two terms are not 0.
void add_parabola(Laws& laws, std::span<const SizeAt> points) {
  if (points.size() != 3 || points.back().at > kMostOfParabola) return;
  SizeLaw law{.kind = SizeLaw::Kind::parabola, .points = {points.begin(), points.end()}};
  const auto slope = [&](std::size_t i) {
    return std::pair(
        static_cast<LawWide>(points[i + 1].size) - static_cast<LawWide>(points[i].size),
        static_cast<LawWide>(points[i + 1].at - points[i].at));
  };
  const auto [rise1, run1] = slope(0);
  const auto [rise2, run2] = slope(1);
  // All three times the same positive number.
  const LawWide over = run1 * run2 * (run1 + run2);
  const LawWide square = rise2 * run1 - rise1 * run2;
  const LawWide linear = rise1 * run2 * (run1 + run2) - square * (points[0].at + points[1].at);
  const LawWide constant = static_cast<LawWide>(points[0].size) * over - linear * points[0].at -
                           square * points[0].at * points[0].at;
  if (square <= 0 || (linear != 0 && constant != 0)) return;
  add_if_through(laws, points, law);
}

Bytes parabola_at(const std::vector<SizeAt>& points, std::int64_t x) {
  if (x > kMostOfParabola) return kMostSize;
  LawWide sum = 0;
  LawWide over = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i + 1; j < 3; ++j) over *= points[j].at - points[i].at;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    LawWide term = over;
    for (std::size_t j = 0; j < 3; ++j) {
      if (j == i) continue;
      term = term / (points[i].at - points[j].at) * (x - points[j].at);
    }
    sum += term * static_cast<LawWide>(points[i].size);
  }
  return nearest_size(sum, over);
}

Bytes guess_at(const std::vector<SizeAt>& points, int degree, std::int64_t x) {
  std::size_t i = 0;
  while (i + 2 < points.size() && points[i + 1].at < x) ++i;
  return PowerLine{points[i], points[i + 1], degree}.at(x);
}

/// In proportion, or the same where it is small.
SizeLaw seen_once(const SizeAt& point, const LawFamily& family) {
  if (point.size <= kSmall) return {.point = point};
  return proportion(point, {.power = family.degree});
}

bool is_constant(std::span<const SizeAt> points) {
  return std::ranges::all_of(points, [&](const SizeAt& p) { return p.size == points[0].size; });
}

/// In proportion to x^n itself.
std::optional<SizeLaw> power_law(std::span<const SizeAt> points, const LawFamily& family) {
  for (const Length& length : lengths_of(points, family)) {
    if (is_power(length)) return proportion(points.front(), length);
  }
  return std::nullopt;
}

/// Whether all recorded values may be multiples of what layers divided the side of an image by, so
/// that it cannot be seen. Layers that make a side smaller by half leave half the bytes or less,
/// but for the first ones.
bool may_be_divided(const SizeLaw& law, std::span<const SizeAt> points, const LawFamily& family) {
  const auto by = static_cast<Bytes>(law.length.by);
  return by * points.back().size <= kMostByOpen * family.largest;
}

/// The laws of programs over the side of an image.
Laws laws_of_image(std::span<const SizeAt> points, const LawFamily& family) {
  Laws laws = divided_sides(points, family, false);
  if (const std::optional<SizeLaw> power = power_law(points, family)) {
    laws.insert(laws.begin(), *power);
    std::erase_if(laws, [&](const SizeLaw& law) { return !may_be_divided(law, points, family); });
  }
  if (!laws.empty()) return laws;
  add_tiles(laws, points, family);
  if (laws.empty()) laws = few_rows(points, family);
  if (!laws.empty()) return laws;
  add_products(laws, points, family);
  add_line(laws, points, family.degree, true);
  add_unusual_lengths(laws, points, family);
  return laws;
}

Laws laws_of_length(std::span<const SizeAt> points, const LawFamily& family) {
  Laws laws;
  if (auto power = power_law(points, family)) {
    laws.push_back(*power);
    add_padded(laws, points, family);
    return laws;
  }
  add_line(laws, points, 1, true);
  for (const Length& length : lengths_of(points, family)) {
    const bool usual = std::ranges::find(family.lengths, length) != family.lengths.end();
    if (length.by == 1 || usual) laws.push_back(proportion(points.front(), length));
  }
  add_products(laws, points, family);
  add_tiles(laws, points, family);
  // Two points tell no line from a square.
  if (!laws.empty() && points.size() == 2) add_line(laws, points, 2, true);
  return laws;
}

}  // namespace

Bytes SizeLaw::at(std::int64_t x) const {
  const auto factors = [&](std::int64_t value) {
    return bounded_product(length.at(value), other ? other->at(value) : 1);
  };
  Bytes size = point.size;
  switch (kind) {
    case Kind::constant:
      break;
    case Kind::guess:
      size = guess_at(points, line.degree, x);
      break;
    case Kind::line:
      size = line.at(x);
      break;
    case Kind::proportion: {
      const auto there = static_cast<LawWide>(factors(point.at));
      const auto size_there = static_cast<LawWide>(point.size) * static_cast<LawWide>(factors(x));
      size = there == 0 ? point.size : nearest_size(size_there, there);
      break;
    }
    case Kind::tiles:
      size = bounded_product(factor, tiles_of(bounded_product(length.at(x), times), tile));
      break;
    case Kind::padded:
      size = bounded_product(factor, bounded_product(other->at(x), tiles_of(length.at(x), tile)));
      break;
    case Kind::parabola:
      size = parabola_at(points, x);
      break;
  }
  return std::max<Bytes>(size, 1);
}

std::vector<SizeLaw> laws_through(std::span<const SizeAt> points, const LawFamily& family) {
  if (points.size() == 1) return {seen_once(points.front(), family)};
  if (is_constant(points)) return {{.point = points.front()}};
  Laws laws = family.degree == 2 ? laws_of_image(points, family) : laws_of_length(points, family);
  if (!laws.empty()) return laws;
  add_line(laws, points, family.degree, false);
  add_line(laws, points, 2 * family.degree, true);
  add_line(laws, points, 2 * family.degree, false);
  add_parabola(laws, points);
  if (family.degree == 1) add_through_origin(laws, points);
  if (laws.empty()) {
    laws.push_back({.kind = SizeLaw::Kind::guess,
                    .line = {points.front(), points.back(), family.degree},
                    .points = {points.begin(), points.end()}});
  }
  return laws;
}

}  // namespace memreplay
