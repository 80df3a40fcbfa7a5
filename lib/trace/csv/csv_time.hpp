#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memreplay {

/// What a number in a column of times counts. `undecided`: seconds as soon as one has a fraction,
/// microseconds until then; also a clock, "2024-05-01 09:15:02.25" or "09:15:02.25".
enum class CsvTimeUnit { us, ns, ms, s, undecided };

/// By the ending of a column's name: "time_ns". Unset: it has no such ending.
std::optional<CsvTimeUnit> csv_time_unit(std::string_view name);

struct CsvTime {
  std::int64_t us = 0;
  CsvTimeUnit shows = CsvTimeUnit::undecided;  ///< `us`, `s`: of an undecided unit what this is
};

/// Unset where the text is no time of this unit. Whole numbers of an undecided unit are taken for
/// microseconds and show nothing.
std::optional<CsvTime> parse_csv_time(std::string_view text, CsvTimeUnit unit);

/// What is expected, for messages.
std::string_view expected_time(CsvTimeUnit unit);

}  // namespace memreplay
