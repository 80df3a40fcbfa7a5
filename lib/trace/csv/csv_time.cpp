#include "trace/csv/csv_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace memreplay {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;

// The number that the whole text is, or unset.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> rounded(double us) {
  if (!(std::abs(us) < 0x1p63)) return std::nullopt;
  return std::llround(us);
}

std::optional<std::int64_t> scaled(std::string_view text, double us_per_unit) {
  std::string with_point(text);
  std::ranges::replace(with_point, ',', '.');
  const auto value = number_of<double>(with_point);
  return value ? rounded(*value * us_per_unit) : std::nullopt;
}

// "2024-05-01" in days since 1970.
std::optional<std::int64_t> day_of(std::string_view date) {
  if (date.size() != 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
  const auto year = number_of<int>(date.substr(0, 4));
  const auto month = number_of<unsigned>(date.substr(5, 2));
  const auto day = number_of<unsigned>(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day ymd{std::chrono::year(*year), std::chrono::month(*month),
                                        std::chrono::day(*day)};
  if (!ymd.ok()) return std::nullopt;
  return std::chrono::sys_days(ymd).time_since_epoch().count();
}

// "09:15:02.25", also with a date before it.
std::optional<std::int64_t> clock_us(std::string_view text) {
  std::int64_t days = 0;
  if (const std::size_t between = text.find_first_of(" T"); between != text.npos) {
    const auto day = day_of(text.substr(0, between));
    if (!day) return std::nullopt;
    days = *day;
    text.remove_prefix(between + 1);
    if (text.ends_with('Z')) text.remove_suffix(1);
  }
  const std::size_t first = text.find(':');
  const std::size_t second = first == text.npos ? first : text.find(':', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto hours = number_of<unsigned>(text.substr(0, first));
  const auto minutes = number_of<unsigned>(text.substr(first + 1, second - first - 1));
  const auto seconds = scaled(text.substr(second + 1), kMicrosecondsPerSecond);
  constexpr std::int64_t kMinute = 60'000'000;
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds < 0 ||
      *seconds > kMinute) {
    return std::nullopt;
  }
  return ((days * 24 + *hours) * 60 + *minutes) * kMinute + *seconds;
}

std::optional<CsvTime> undecided_time(std::string_view text) {
  if (const auto whole = number_of<std::int64_t>(text)) {
    return CsvTime{*whole, CsvTimeUnit::undecided};
  }
  if (const auto us = scaled(text, kMicrosecondsPerSecond)) return CsvTime{*us, CsvTimeUnit::s};
  if (const auto us = clock_us(text)) return CsvTime{*us, CsvTimeUnit::us};
  return std::nullopt;
}

}  // namespace

std::optional<CsvTimeUnit> csv_time_unit(std::string_view name) {
  using Ending = std::pair<std::string_view, CsvTimeUnit>;
  constexpr std::array kEndings = {Ending{"_us", CsvTimeUnit::us}, Ending{"_ns", CsvTimeUnit::ns},
                                   Ending{"_ms", CsvTimeUnit::ms}, Ending{"_s", CsvTimeUnit::s},
                                   Ending{"seconds", CsvTimeUnit::s}};
  const auto found =
      std::ranges::find_if(kEndings, [&](const Ending& e) { return name.ends_with(e.first); });
  return found == kEndings.end() ? std::nullopt : std::optional(found->second);
}

std::optional<CsvTime> parse_csv_time(std::string_view text, CsvTimeUnit unit) {
  constexpr std::int64_t kNanoseconds = 1000;
  std::optional<std::int64_t> us;
  switch (unit) {
    case CsvTimeUnit::us:
      us = number_of<std::int64_t>(text);
      break;
    case CsvTimeUnit::ns:
      us = number_of<std::int64_t>(text);
      if (us) *us /= kNanoseconds;
      break;
    case CsvTimeUnit::ms:
      us = scaled(text, 1e3);
      break;
    case CsvTimeUnit::s:
      us = scaled(text, kMicrosecondsPerSecond);
      break;
    case CsvTimeUnit::undecided:
      return undecided_time(text);
  }
  return us ? std::optional(CsvTime{*us, CsvTimeUnit::us}) : std::nullopt;
}

std::string_view expected_time(CsvTimeUnit unit) {
  constexpr std::array<std::string_view, 5> kExpected = {
      "microseconds", "nanoseconds", "milliseconds", "seconds",
      "seconds, whole microseconds, or a clock such as 09:15:02.25"};
  return kExpected.at(static_cast<std::size_t>(unit));
}

}  // namespace memreplay
