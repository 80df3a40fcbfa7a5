#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/request.hpp"
#include "core/units.hpp"
#include "trace/csv/csv_columns.hpp"
#include "trace/csv/csv_rows.hpp"

namespace memreplay {

/// The fields of the row at which a CSV stands, by what they mean. What cannot be read throws
/// InputError with line and column, what stands there and what was expected.
class CsvFields {
 public:
  /// Reads the header. `by_hand` as in read_csv_header.
  CsvFields(std::string_view file, std::string_view text, std::string_view by_hand);

  /// Moves to the next row; false at the end. Only an allocation needs all of its fields.
  bool next();

  /// Where the next row begins.
  const char* rest() const { return rows_.rest(); }
  std::uint64_t line() const { return rows_.line(); }  ///< of the row, from 1
  const CsvHeader& header() const { return header_; }
  bool has(CsvColumn column) const { return header_.places[column].has_value(); }
  /// As the header calls a column that is there.
  std::string_view name(CsvColumn column) const { return header_.names[*header_.places[column]]; }
  /// Empty where the file has no such column.
  std::string_view text(CsvColumn column) const {
    return has(column) ? rows_.fields()[*header_.places[column]] : std::string_view{};
  }

  /// Nothing where the field is empty. Of Number int, std::uint32_t and std::uint64_t.
  template <typename Number>
  std::optional<Number> number(CsvColumn column, std::string_view expected) const {
    const std::string_view field = text(column);
    if (field.empty()) return std::nullopt;
    Number value{};
    const char* end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, value);
    if (error == std::errc{} && stop == end) return value;
    return written_otherwise<Number>(column, expected);
  }
  char op() const;
  /// The id is that of no block: what a failed allocation returns.
  bool is_null_id() const;
  std::optional<PoolId> pool() const;
  std::uint8_t align_log2() const;

  [[noreturn]] void fail(std::string_view message) const { rows_.fail(message); }
  [[noreturn]] void bad(CsvColumn column, std::string_view expected) const;

 private:
  void fill_up_row();
  template <typename Number>
  std::optional<Number> written_otherwise(CsvColumn column, std::string_view expected) const;

  CsvRows rows_;
  CsvHeader header_;
};

}  // namespace memreplay
