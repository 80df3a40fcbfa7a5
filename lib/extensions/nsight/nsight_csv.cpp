#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/nsight/nsight_rows.hpp"
#include "trace/csv_rows.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kNowhere = SIZE_MAX;
constexpr auto kName = static_cast<std::size_t>(NsightColumn::name);

/// The column that each field belongs to, or kNowhere.
std::vector<std::size_t> columns_of_fields(const CsvRows& rows) {
  std::vector<std::size_t> columns(rows.fields().size(), kNowhere);
  for (std::size_t column = 0; column < kNsightColumns; ++column) {
    const auto found = std::ranges::find(rows.fields(), kNsightNames[column]);
    if (found != rows.fields().end()) {
      columns[static_cast<std::size_t>(found - rows.fields().begin())] = column;
    } else if (column < kNsightNeeded) {
      rows.fail(fmt::format("no column {}; expected the columns of CUDA_GPU_MEMORY_USAGE_EVENTS",
                            kNsightNames[column]));
    }
  }
  return columns;
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
                 fmt::format("{} is not a number; expected a whole one of 64 bits", shown(text)));
  }
  return number;
}

void read_row(const CsvRows& rows, const std::vector<std::size_t>& columns, NsightRow& row) {
  if (rows.fields().size() != columns.size()) {
    rows.fail(fmt::format("{} fields; the header has {}", rows.fields().size(), columns.size()));
  }
  for (std::size_t field = 0; field < columns.size(); ++field) {
    if (columns[field] == kName) {
      row.name = rows.fields()[field];
    } else if (columns[field] != kNowhere) {
      row.numbers[columns[field]] = number_in(rows, field);
    }
  }
}

/// Reads the first row of a text, where all fields are empty or plain digits and a line feed
/// follows: nearly always. How many characters it has with that; 0 for any other row.
std::size_t read_plain_row(std::string_view text, const std::vector<std::size_t>& columns,
                           NsightRow& row) {
  std::size_t at = 0;
  for (std::size_t field = 0; field < columns.size(); ++field) {
    const std::string_view rest = text.substr(at);
    std::uint64_t number = 0;
    const std::size_t digits = leading_digits(rest, number);
    if (digits == rest.size() || digits > kDigitsThatFit) return 0;
    if (rest[digits] != (field + 1 < columns.size() ? ',' : '\n')) return 0;
    at += digits + 1;
    if (columns[field] == kName) {
      row.name = rest.substr(0, digits);
    } else if (columns[field] != kNowhere) {
      auto& cell = row.numbers[columns[field]];
      cell = digits > 0 ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
    }
  }
  return at;
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
  const std::vector<std::size_t> columns = columns_of_fields(rows);
  NsightRow row;
  for (;;) {
    if (const std::size_t characters = read_plain_row(rows.ahead(), columns, row)) {
      rows.pass(characters);
    } else if (rows.next()) {
      read_row(rows, columns, row);
    } else {
      return {};
    }
    row.number = static_cast<std::int64_t>(rows.line());
    take(row);
  }
}

}  // namespace memreplay
