#include "questions/check/tolerance.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {
namespace {

// "0.5": 5 of each 10 parts of a percent.
std::optional<Tolerance> parse_percent(std::string_view number) {
  constexpr std::size_t kMostDigits = 9;  // a product with any value fits 128 bits
  const std::size_t dot = std::min(number.find('.'), number.size());
  const std::string_view fraction = number.substr(std::min(dot + 1, number.size()));
  if (dot < number.size() && fraction.empty()) return std::nullopt;
  const std::string digits = std::string(number.substr(0, dot)) + std::string(fraction);
  const auto amount = parse_whole(digits);
  if (!amount || dot == 0 || digits.size() > kMostDigits) return std::nullopt;
  Tolerance tolerance{.relative = true, .amount = *amount, .per = 100};
  for (std::size_t i = 0; i < fraction.size(); ++i) tolerance.per *= 10;
  return tolerance;
}

}  // namespace

std::optional<Tolerance> parse_tolerance(std::string_view text) {
  std::optional<Tolerance> tolerance;
  if (text.ends_with('%')) {
    tolerance = parse_percent(text.substr(0, text.size() - 1));
  } else if (const auto size = parse_size(text)) {
    tolerance = Tolerance{.sized = !parse_whole(text), .amount = *size};
  }
  if (tolerance) tolerance->text = text;
  return tolerance;
}

std::uint64_t limit_of(std::uint64_t baseline, const Tolerance& tolerance) {
  using Wide = unsigned __int128;
  const Wide more = tolerance.relative ? Wide{baseline} * tolerance.amount / tolerance.per
                                       : Wide{tolerance.amount};
  return static_cast<std::uint64_t>(std::min<Wide>(Wide{baseline} + more, UINT64_MAX));
}

Tolerance default_tolerance() { return *parse_tolerance("2%"); }

}  // namespace memreplay
