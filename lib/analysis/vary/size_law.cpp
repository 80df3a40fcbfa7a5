#include "analysis/vary/size_law.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace memreplay {
namespace {

__extension__ using LawWide = __int128;

constexpr LawWide kLargest = LawWide{1} << 62;    ///< sizes beyond it are out of memory anyway
constexpr LawWide kMostPower = LawWide{1} << 62;  ///< of x^degree
constexpr Bytes kMostSize = Bytes{1} << 62;
/// A block seen once that is no larger belongs to the program, not to its data.
constexpr Bytes kSmall = 4096;
constexpr Bytes kMostOfTable = Bytes{1} << 20;  ///< of a number for each token
constexpr std::int64_t kMostPadding = 128;
constexpr Bytes kPaddedBias = 16;
constexpr std::int64_t kMostOfParabola = 1 << 20;
constexpr std::size_t kMostLengths = 8;
constexpr std::int64_t kLeastPart = 4;  ///< of a side that was divided
constexpr Bytes kMostByOpen = 4;        ///< of the largest blocks
constexpr std::size_t kOften = 3;
constexpr std::array<Bytes, 6> kTiles = {32, 64, 16, 8, 128, 256};
constexpr std::array<Bytes, 5> kTimes = {1, 2, 4, 8, 16};

/// Nothing where it is too large to be reckoned with.
std::optional<LawWide> raised_to(std::int64_t x, int degree) {
  LawWide result = 1;
  for (int i = 0; i < degree; ++i) {
    result *= x;
    if (result > kMostPower) return std::nullopt;
  }
  return result;
}

LawWide floor_of(LawWide numerator, LawWide denominator) {
  const LawWide quotient = numerator / denominator;
  return numerator % denominator < 0 ? quotient - 1 : quotient;
}

Bytes as_size(LawWide value) { return static_cast<Bytes>(std::clamp<LawWide>(value, 0, kLargest)); }

Bytes times_of(Bytes a, Bytes b) {
  if (a == 0 || b == 0) return 0;
  return a > kMostSize / b ? kMostSize : a * b;
}

Bytes tiles_of(Bytes length, Bytes tile) { return length / tile + (length % tile == 0 ? 0 : 1); }

/// a and b of a + b x^degree, as they are times the difference of the powers.
struct Terms {
  LawWide constant, slope, over;

  bool whole() const { return slope % over == 0; }
};

std::optional<Terms> terms(const PowerLine& line) {
  const auto low = raised_to(line.low.at, line.degree);
  const auto high = raised_to(line.high.at, line.degree);
  if (!low || !high || *low == *high) return std::nullopt;
  const auto a = static_cast<LawWide>(line.low.size);
  const LawWide slope = static_cast<LawWide>(line.high.size) - a;
  return Terms{a * (*high - *low) - slope * *low, slope, *high - *low};
}

bool goes_through(const SizeLaw& law, std::span<const SizeAt> points) {
  return std::ranges::all_of(points, [&](const SizeAt& p) { return law.at(p.at) == p.size; });
}

using Laws = std::vector<SizeLaw>;

void add_if_through(Laws& laws, std::span<const SizeAt> points, SizeLaw law) {
  if (goes_through(law, points)) laws.push_back(std::move(law));
}

std::vector<std::int64_t> values_of(std::span<const SizeAt> points) {
  std::vector<std::int64_t> values;
  for (const SizeAt& point : points) values.push_back(point.at);
  return values;
}

/// How layers round what they divide.
enum class Rounding { down, up, without_edges };

Rounding rounding_of(const Length& length) {
  if (length.plus < 0) return Rounding::without_edges;
  return length.plus > 0 ? Rounding::up : Rounding::down;
}

/// What a side was divided into, as it is where the side is x.
std::int64_t parts_of(const Length& length, std::int64_t x) {
  return (length.times * x + length.plus) / length.by;
}

bool leaves_few(const Length& length, std::span<const SizeAt> points) {
  return length.by > 1 && parts_of(length, points.front().at) < kLeastPart;
}

/// The plainest first.
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

SizeLaw proportion(const SizeAt& point, const Length& length, std::optional<Length> other = {}) {
  return {.kind = SizeLaw::Kind::proportion, .point = point, .length = length, .other = other};
}

bool is_power(const Length& length) { return length == Length{.power = length.power}; }

/// A length that is its parameter, and so much more.
std::optional<Length> shifted(std::span<const SizeAt> points, int degree) {
  const auto t = terms({points.front(), points.back(), degree});
  if (!t || !t->whole() || t->slope <= 0) return std::nullopt;
  const LawWide slope = t->slope / t->over;
  const LawWide constant =
      static_cast<LawWide>(points.front().size) - slope * *raised_to(points.front().at, degree);
  if (constant < 0 || constant % slope != 0) return std::nullopt;
  const auto more = static_cast<std::int64_t>(constant / slope);
  return degree == 1 ? Length{.plus = more} : Length{.power = degree, .more = more};
}

/// A line with a constant that is not negative.
void add_line(Laws& laws, std::span<const SizeAt> points, int degree, bool whole) {
  SizeLaw law{.kind = SizeLaw::Kind::line, .line = {points.front(), points.back(), degree}};
  const auto t = terms(law.line);
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

/// Sides of images that layers made smaller.
void add_lengths(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  for (const Length& length : lengths_of(points, family)) {
    if (is_power(length) || !length.is_usual() || leaves_few(length, points)) continue;
    const SizeAt& first = points.front();
    if (first.size % length.at(first.at) == 0) laws.push_back(proportion(first, length));
  }
}

/// Where a few rows are left many lengths fit: those first that round as others do, which at least
/// one has to.
void add_few_rows(Laws& laws, std::span<const SizeAt> points, const LawFamily& family) {
  Laws few;
  for (const Length& length : lengths_of(points, family)) {
    if (is_power(length) || !length.is_usual() || !leaves_few(length, points)) continue;
    const SizeAt& first = points.front();
    if (first.size % length.at(first.at) == 0) few.push_back(proportion(first, length));
  }
  const auto rounds_as_others = [&](const SizeLaw& law) {
    return std::ranges::any_of(family.lengths, [&](const Length& other) {
      const Rounding rounding = rounding_of(law.length);
      const bool rounds = other.by > 1 || rounding == Rounding::without_edges;
      return rounds && rounding_of(other) == rounding;
    });
  };
  std::ranges::stable_partition(few, rounds_as_others);
  if (few.empty() || !rounds_as_others(few.front())) return;
  laws.insert(laws.end(), few.begin(), few.end());
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
  return as_size(floor_of(2 * sum + over, 2 * over));
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
  Laws laws;
  const std::optional<SizeLaw> power = power_law(points, family);
  if (power) laws.push_back(*power);
  add_lengths(laws, points, family);
  if (power) {
    std::erase_if(laws, [&](const SizeLaw& law) { return !may_be_divided(law, points, family); });
  }
  if (!laws.empty()) return laws;
  add_tiles(laws, points, family);
  if (laws.empty()) add_few_rows(laws, points, family);
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

Bytes PowerLine::at(std::int64_t x) const {
  const auto t = terms(*this);
  const auto raised = raised_to(x, degree);
  if (!t || !raised) return t ? kMostSize : low.size;
  // Both products keep within 126 bits, as sizes and powers keep within 62.
  const LawWide numerator = t->constant + t->slope * *raised;
  return as_size(floor_of(2 * numerator + t->over, 2 * t->over));
}

Bytes SizeLaw::at(std::int64_t x) const {
  const auto factors = [&](std::int64_t value) {
    return times_of(length.at(value), other ? other->at(value) : 1);
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
      size = there == 0 ? point.size : as_size(floor_of(2 * size_there + there, 2 * there));
      break;
    }
    case Kind::tiles:
      size = times_of(factor, tiles_of(times_of(length.at(x), times), tile));
      break;
    case Kind::padded:
      size = times_of(factor, times_of(other->at(x), tiles_of(length.at(x), tile)));
      break;
    case Kind::parabola:
      size = parabola_at(points, x);
      break;
  }
  return std::max<Bytes>(size, 1);
}

LawFamily family_of(std::span<const std::vector<SizeAt>> blocks) {
  LawFamily family;
  std::set<std::vector<std::pair<std::int64_t, Bytes>>> seen;  // each way to grow once
  std::map<std::pair<Bytes, Bytes>, std::size_t> often;
  std::vector<std::span<const SizeAt>> growing;
  for (const std::vector<SizeAt>& points : blocks) {
    if (points.size() < 2 || points.back().size <= points.front().size) continue;
    std::vector<std::pair<std::int64_t, Bytes>> key;
    for (const SizeAt& point : points) key.emplace_back(point.at, point.size);
    if (!seen.insert(std::move(key)).second) continue;
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
