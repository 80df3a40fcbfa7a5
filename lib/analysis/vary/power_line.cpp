#include "analysis/vary/power_line.hpp"

#include <algorithm>

namespace memreplay {
namespace {

constexpr LawWide kLargest = LawWide{1} << 62;    ///< sizes beyond it are out of memory anyway
constexpr LawWide kMostPower = LawWide{1} << 62;  ///< the most that x^degree may be

LawWide floor_of(LawWide numerator, LawWide denominator) {
  const LawWide quotient = numerator / denominator;
  return numerator % denominator < 0 ? quotient - 1 : quotient;
}

}  // namespace

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
