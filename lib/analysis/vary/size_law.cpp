#include "analysis/vary/size_law.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace memreplay {
namespace {

__extension__ using LawWide = __int128;

constexpr LawWide kLargest = LawWide{1} << 62;    ///< sizes beyond it are out of memory anyway
constexpr LawWide kMostPower = LawWide{1} << 62;  ///< of x^degree
constexpr Bytes kMostSize = Bytes{1} << 62;
constexpr Bytes kSmall =
    4096;  ///< a block seen once that is no larger belongs to the program, not to its data
constexpr std::int64_t kMostOfParabola = 1 << 20;
constexpr std::size_t kMostLengths = 6;
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

/// Exactly in proportion to x^degree.
bool in_proportion(const PowerLine& line) {
  const auto t = terms(line);
  return t && t->constant == 0;
}

std::vector<int> degrees_for(const LawFamily& family) {
  std::vector<int> degrees = {family.degree};
  for (const int degree : {2 * family.degree, 1, 2, 3, 4}) {
    if (std::ranges::find(degrees, degree) == degrees.end()) degrees.push_back(degree);
  }
  return degrees;
}

bool goes_through(const SizeLaw& law, std::span<const SizeAt> points) {
  return std::ranges::all_of(points, [&](const SizeAt& p) { return law.at(p.at) == p.size; });
}

using Found = std::optional<SizeLaw>;

Found power_law(std::span<const SizeAt> points, const LawFamily& family) {
  for (const int degree : degrees_for(family)) {
    SizeLaw law{.kind = SizeLaw::Kind::line, .line = {points.front(), points.back(), degree}};
    if (in_proportion(law.line) && goes_through(law, points)) return law;
  }
  return std::nullopt;
}

/// A line with a constant that is not negative.
Found line_law(std::span<const SizeAt> points, int degree, bool whole) {
  SizeLaw law{.kind = SizeLaw::Kind::line, .line = {points.front(), points.back(), degree}};
  const auto t = terms(law.line);
  if (!t || t->constant < 0 || t->slope <= 0 || (whole && !t->whole())) return std::nullopt;
  return goes_through(law, points) ? Found(law) : std::nullopt;
}

/// Sets the factor by the first point; false where it is not a whole number.
bool set_factor(SizeLaw& law, const SizeAt& point) {
  law.factor = 1;
  const Bytes one = law.at(point.at);
  if (one == 0 || point.size % one != 0) return false;
  law.factor = point.size / one;
  return true;
}

Found product_law(std::span<const SizeAt> points, const LawFamily& family) {
  for (const PowerLine& a : family.lengths) {
    for (const PowerLine& b : family.lengths) {
      SizeLaw law{.kind = SizeLaw::Kind::product, .line = a, .other = b};
      if (set_factor(law, points.front()) && goes_through(law, points)) return law;
    }
  }
  return std::nullopt;
}

Found tiles_law(std::span<const SizeAt> points, const LawFamily& family) {
  for (const Bytes tile : kTiles) {
    for (const PowerLine& length : family.lengths) {
      for (const Bytes times : kTimes) {
        SizeLaw law{.kind = SizeLaw::Kind::tiles, .line = length, .times = times, .tile = tile};
        if (set_factor(law, points.front()) && goes_through(law, points)) return law;
      }
      for (const PowerLine& other : family.lengths) {
        SizeLaw law{.kind = SizeLaw::Kind::padded, .line = length, .other = other, .tile = tile};
        if (set_factor(law, points.front()) && goes_through(law, points)) return law;
      }
    }
  }
  return std::nullopt;
}

/// a + b x + c x², of which at most two terms are not 0.
Found parabola_law(std::span<const SizeAt> points) {
  if (points.size() != 3 || points.back().at > kMostOfParabola) return std::nullopt;
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
  if (square <= 0 || (linear != 0 && constant != 0)) return std::nullopt;
  return goes_through(law, points) ? Found(law) : std::nullopt;
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

SizeLaw seen_once(const SizeAt& point, const LawFamily& family) {
  SizeLaw law{.kind = SizeLaw::Kind::alone};
  const SizeAt zero{0, point.size <= kSmall ? point.size : 0};
  law.line = {zero, point, family.degree};
  return law;
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
  Bytes size = line.low.size;
  switch (kind) {
    case Kind::constant:
      break;
    case Kind::guess:
      size = guess_at(points, line.degree, x);
      break;
    case Kind::line:
    case Kind::alone:
      size = line.at(x);
      break;
    case Kind::product:
      size = times_of(factor, times_of(line.at(x), other.at(x)));
      break;
    case Kind::tiles:
      size = times_of(factor, tiles_of(times_of(line.at(x), times), tile));
      break;
    case Kind::padded:
      size = times_of(factor, times_of(other.at(x), tiles_of(line.at(x), tile)));
      break;
    case Kind::parabola:
      size = parabola_at(points, x);
      break;
  }
  return std::max<Bytes>(size, 1);
}

LawFamily family_of(std::span<const std::vector<SizeAt>> blocks) {
  LawFamily family;
  std::map<int, std::size_t> growing;
  for (const std::vector<SizeAt>& points : blocks) {
    if (points.size() < 2 || points.back().size <= points.front().size) continue;
    for (int degree = 1; degree <= 4; ++degree) {
      const auto t = terms({points.front(), points.back(), degree});
      if (!t || t->constant < 0) continue;
      ++growing[degree];
      break;
    }
  }
  std::size_t most = 0;
  for (const auto& [degree, count] : growing) {
    if (count <= most) continue;
    most = count;
    family.degree = degree;
  }
  std::map<std::pair<Bytes, Bytes>, std::pair<std::size_t, PowerLine>> lengths;
  for (const std::vector<SizeAt>& points : blocks) {
    if (points.size() < 2 || points.back().size <= points.front().size) continue;
    const Found law = line_law(points, family.degree, false);
    if (!law) continue;
    PowerLine line = law->line;
    const Bytes common = std::gcd(line.low.size, line.high.size);
    line.low.size /= common;
    line.high.size /= common;
    auto& known = lengths[{line.low.size, line.high.size}];
    ++known.first;
    known.second = line;
  }
  std::vector<std::pair<std::size_t, PowerLine>> often;
  for (const auto& [sizes, length] : lengths) often.push_back(length);
  std::ranges::stable_sort(often, std::ranges::greater{}, [](const auto& l) { return l.first; });
  for (const auto& [count, line] : often) {
    if (family.lengths.size() < kMostLengths) family.lengths.push_back(line);
  }
  return family;
}

SizeLaw law_through(std::span<const SizeAt> points, const LawFamily& family) {
  if (points.size() == 1) return seen_once(points.front(), family);
  SizeLaw constant{.line = {points.front(), points.front(), 1}};
  if (goes_through(constant, points)) return constant;
  if (auto law = power_law(points, family)) return *law;
  if (auto law = line_law(points, family.degree, true)) return *law;
  if (auto law = product_law(points, family)) return *law;
  if (auto law = tiles_law(points, family)) return *law;
  if (auto law = line_law(points, family.degree, false)) return *law;
  if (auto law = line_law(points, 2 * family.degree, false)) return *law;
  if (auto law = parabola_law(points)) return *law;
  return {.kind = SizeLaw::Kind::guess,
          .line = {points.front(), points.back(), family.degree},
          .points = {points.begin(), points.end()}};
}

}  // namespace memreplay
