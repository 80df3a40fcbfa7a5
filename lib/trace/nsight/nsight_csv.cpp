#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "trace/csv/csv_rows.hpp"
#include "trace/nsight/nsight_rows.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

/// Of each column the field in which it stands.
using NsightPlaces = std::array<std::size_t, kNsightColumns>;

NsightPlaces nsight_places(const CsvRows& rows) {
  NsightPlaces places;
  for (std::size_t column = 0; column < kNsightColumns; ++column) {
    const auto found = std::ranges::find(rows.fields(), kNsightNames[column]);
    const bool is_there = found != rows.fields().end();
    places[column] = is_there ? static_cast<std::size_t>(found - rows.fields().begin()) : kNowhere;
    if (!is_there && column < kNsightNeeded) {
      rows.fail(fmt::format("no column {}; expected the columns of CUDA_GPU_MEMORY_USAGE_EVENTS",
                            kNsightNames[column]));
    }
  }
  return places;
}

// Addresses may be written as signed or unsigned numbers.
std::optional<std::int64_t> number_in(const CsvRows& rows, std::size_t field) {
  const std::string_view text = rows.fields()[field];
  if (text.empty()) return std::nullopt;
  std::uint64_t digits = 0;
  if (read_digits(text, digits)) return static_cast<std::int64_t>(digits);
  const char* const end = text.data() + text.size();
  std::int64_t number = 0;
  auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) {
    std::uint64_t unsigned_number = 0;
    read = std::from_chars(text.data(), end, unsigned_number);
    number = static_cast<std::int64_t>(unsigned_number);
  }
  if (read.ec != std::errc() || read.ptr != end) {
    rows.fail_at(field,
                 fmt::format("{} is no number; expected a whole one of 64 bits", shown(text)));
  }
  return number;
}

}  // namespace

bool is_nsight_csv(const Input& input) {
  constexpr std::size_t kLongestHeader = 4000;
  std::string_view header = input.bytes.substr(0, kLongestHeader);
  header = header.substr(0, header.find('\n'));
  try {
    CsvRows rows(input.name, header);
    return rows.next() &&
           std::ranges::find(rows.fields(), "memoryOperationType") != rows.fields().end();
  } catch (const InputError&) {
    return false;
  }
}

NsightEnums nsight_rows_of_csv(const Input& input, const TakeNsightRow& take) {
  CsvRows rows(input.name, input.bytes);
  if (!rows.next()) rows.fail("no header; expected the columns of CUDA_GPU_MEMORY_USAGE_EVENTS");
  const NsightPlaces places = nsight_places(rows);
  const std::size_t fields = rows.fields().size();
  NsightRow row;
  while (rows.next()) {
    if (rows.fields().size() != fields) {
      rows.fail(fmt::format("{} fields; the header has {}", rows.fields().size(), fields));
    }
    row.number = static_cast<std::int64_t>(rows.line());
    for (std::size_t column = 0; column < kNsightColumns; ++column) {
      if (places[column] == kNowhere) continue;
      if (kNsightNames[column] == "name") {
        row.name = rows.fields()[places[column]];
      } else {
        row.numbers[column] = number_in(rows, places[column]);
      }
    }
    take(row);
  }
  return {};
}

}  // namespace memreplay
