#include "trace/failure_text/told_sizes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/limits.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNumber = "0123456789.";

// The bytes of "MiB" and its like at the beginning of a text that goes on after it.
std::optional<double> unit_at(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTPE";
  const auto ends = [&](std::size_t at) {
    return at < text.size() &&
           std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
                   .find(text[at]) == std::string_view::npos;
  };
  if (text.starts_with("bytes") && ends(5)) return 1;
  if (text.starts_with('B') && ends(1)) return 1;
  if (text.size() < 4 || text.substr(1, 2) != "iB" || !ends(3)) return std::nullopt;
  const std::size_t unit = kUnits.find(text[0]);
  if (unit == kUnits.npos) return std::nullopt;
  return std::ldexp(1.0, 10 * (static_cast<int>(unit) + 1));
}

}  // namespace

std::optional<ToldBytes> told_size_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return std::nullopt;
  const std::size_t end = text.find_first_not_of(kNumber, at);
  if (end == text.npos || end == at) return std::nullopt;
  const std::string_view digits = text.substr(at, end - at);
  double number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  const auto unit = unit_at(text.substr(text[end] == ' ' ? end + 1 : end));
  if (!unit || number * *unit >= static_cast<double>(kMostBytes)) return std::nullopt;
  const std::size_t point = digits.find('.');
  const auto decimals = point == digits.npos ? 0 : static_cast<int>(digits.size() - point - 1);
  const double last = *unit == 1 ? 0 : *unit / std::pow(10, decimals);
  // Some cut the last digit off, others round it.
  return ToldBytes{static_cast<Bytes>(number * *unit), static_cast<Bytes>(std::ceil(last))};
}

std::optional<ToldBytes> told_size_behind(std::string_view text, std::string_view phrase) {
  const std::size_t at = text.find(phrase);
  if (at == text.npos) return std::nullopt;
  return told_size_at(text, at + phrase.size());
}

std::optional<ToldBytes> told_size_before(std::string_view text, std::string_view phrase) {
  const std::size_t end = text.find(phrase);
  if (end == text.npos || end == 0) return std::nullopt;
  std::size_t at = text.find_last_of(kDigits, end - 1);
  if (at == text.npos || end - at > std::string_view("0 bytes").size()) return std::nullopt;
  at = text.find_last_not_of(kNumber, at);
  if (at == text.npos) return std::nullopt;
  return told_size_at(text, at + 1);
}

std::optional<std::uint64_t> told_count_behind(std::string_view text, std::string_view phrase) {
  const std::size_t found = text.find(phrase);
  if (found == text.npos) return std::nullopt;
  const std::size_t at = text.find_first_not_of(' ', found + phrase.size());
  if (at == text.npos) return std::nullopt;
  const std::size_t end = text.find_first_not_of(kDigits, at);
  if (end == text.npos) return std::nullopt;
  return parse_whole(text.substr(at, end - at));
}

std::optional<ToldBytes> told_sum(const std::optional<ToldBytes>& a,
                                  const std::optional<ToldBytes>& b) {
  if (!a || !b) return std::nullopt;
  return ToldBytes{a->bytes + b->bytes, a->within + b->within};
}

std::optional<ToldBytes> told_difference(const std::optional<ToldBytes>& a,
                                         const std::optional<ToldBytes>& b) {
  if (!a || !b) return std::nullopt;
  return ToldBytes{a->bytes - std::min(a->bytes, b->bytes), a->within + b->within};
}

}  // namespace memreplay
