#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/units.hpp"

namespace memreplay {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Damerau-Levenshtein with adjacent swaps, so that "torhc" is one step from "torch".
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

Bytes unit_bytes(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  constexpr std::string_view kPrefixes = "KMGT";
  const auto power = kPrefixes.find(unit.front());
  const std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "iB")) return 0;
  return Bytes{1} << (10 * (power + 1));
}

}  // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  if (read_digits(text, value)) return value;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<Bytes> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, digits);
  const Bytes unit = unit_bytes(text.substr(digits));
  if (unit == 0) return std::nullopt;
  if (const auto whole = parse_whole(number)) {
    if (*whole > UINT64_MAX / unit) return std::nullopt;
    return std::min(*whole * unit, kBeyondDevices);
  }
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  const double bytes = value * static_cast<double>(unit);
  if (number.empty() || error != std::errc{} || stop != end || unit == 1 || bytes >= 0x1p63) {
    return std::nullopt;
  }
  return std::min(static_cast<Bytes>(std::llround(bytes)), kBeyondDevices);
}

std::string human_size(Bytes size) {
  struct Unit {
    Bytes bytes;
    double from;  ///< this many of it, less is shown in the next smaller unit
    std::string_view name;
  };
  constexpr double kFive = 9999.5 / 1024;  // in the smaller unit it would have five digits
  constexpr Unit kUnits[] = {
      {kTiB, kFive, "TiB"}, {kGiB, kFive, "GiB"}, {kMiB, 1, "MiB"}, {kKiB, 1, "KiB"}};
  for (const Unit& unit : kUnits) {
    const double value = static_cast<double>(size) / static_cast<double>(unit.bytes);
    if (value < unit.from) continue;
    const bool whole = value >= 99.95 || size % unit.bytes == 0;
    const int decimals = whole ? 0 : unit.bytes > kMiB && value < 9.995 ? 2 : 1;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return fmt::format("{} B", size);
}

std::string exact_size(Bytes size) {
  if (size != 0 && size % kMiB == 0) return fmt::format("{} MiB", size / kMiB);
  if (size != 0 && size % kKiB == 0) return fmt::format("{} KiB", size / kKiB);
  return fmt::format("{} B", size);
}

std::string size_argument(Bytes size) {
  std::string text = exact_size(size);
  std::erase(text, ' ');
  return text;
}

std::string human_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // No less than what one is longer by; a name of a hostile file may be as long as the file.
    const std::size_t a = name.size(), b = candidate.size();
    if (std::max(a, b) - std::min(a, b) >= best_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const auto nearest = nearest_name(name, known);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : std::string{};
}

}  // namespace memreplay
