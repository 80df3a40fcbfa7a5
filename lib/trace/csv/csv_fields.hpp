#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "core/request.hpp"
#include "core/units.hpp"
#include "trace/csv/csv_columns.hpp"
#include "trace/csv/csv_rows.hpp"

namespace memreplay {

/// A row of op, id and size, as most are: "a,17,512" or "f,17,".
struct ShortRow {
  char op = 0;  ///< 'a' or 'f'
  std::uint64_t id = 0;
  Bytes size = 0;
  std::size_t characters = 0;  ///< with the end of the line
};

/// The fields of the row at which a CSV stands, by what they mean. What cannot be read throws
/// InputError with line and column, what stands there and what was expected.
class CsvFields {
 public:
  /// Reads the header. `by_hand` as in read_csv_header.
  CsvFields(std::string_view file, std::string_view text, std::string_view by_hand);

  /// Moves to the next row; false at the end. Only an allocation needs all of its fields.
  bool next();

  /// Looks whether the next row is a short one, plainly written. Else, and of files with other
  /// columns, false.
  bool is_short(ShortRow& row) const;
  /// Moves past the row that was looked at.
  void pass(const ShortRow& row) { rows_.pass(row.characters); }

  /// Where the next row begins.
  const char* rest() const { return rows_.rest(); }
  std::string place() const { return rows_.place(); }  ///< where the row begins
  const CsvHeader& header() const { return header_; }
  bool has(CsvColumn column) const { return header_.places[column].has_value(); }
  /// There are other columns than op, id and size.
  bool says_more() const { return says_more_; }
  /// As the header calls a column that is there.
  std::string_view name(CsvColumn column) const { return header_.names[*header_.places[column]]; }
  /// Empty where the file has no such column.
  std::string_view text(CsvColumn column) const {
    return has(column) ? rows_.fields()[*header_.places[column]] : std::string_view{};
  }

  /// Unset where the field is empty. Number is int, std::uint32_t or std::uint64_t.
  template <typename Number>
  std::optional<Number> number(CsvColumn column, std::string_view expected) const {
    std::optional<Number> number;
    take(column, number, expected);
    return number;
  }
  /// Reads into an empty optional, where it is to stay: copies of what was just written in parts
  /// are slow.
  template <typename Number>
  void take(CsvColumn column, std::optional<Number>& number, std::string_view expected) const {
    const std::string_view field = text(column);
    if (field.empty()) return;
    std::uint64_t whole = 0;
    if (rows_.read_digits(field, whole) && std::in_range<Number>(whole)) {
      number.emplace(static_cast<Number>(whole));
    } else {
      number = written_otherwise<Number>(column, expected);
    }
  }
  char op() const {
    const std::string_view word = text(kOp);
    return word == "a" || word == "f" ? word.front() : written_op();  // nearly always the first
  }
  /// The id is that of no block: what a failed allocation returns.
  bool is_null_id() const {
    const std::string_view field = text(kId);
    const bool plain_number = !field.empty() && field.front() >= '1' && field.front() <= '9';
    return !plain_number && is_null(field);
  }
  std::optional<PoolId> pool() const { return text(kPool).empty() ? std::nullopt : written_pool(); }
  std::uint8_t align_log2() const { return text(kAlign).empty() ? 0 : written_align_log2(); }

  [[noreturn]] void fail(std::string_view message) const { rows_.fail(message); }
  [[noreturn]] void bad(CsvColumn column, std::string_view expected) const;

 private:
  static bool is_null(std::string_view id);
  void fill_up_row();
  char written_op() const;
  std::optional<PoolId> written_pool() const;
  std::uint8_t written_align_log2() const;
  template <typename Number>
  std::optional<Number> written_otherwise(CsvColumn column, std::string_view expected) const;

  CsvRows rows_;
  CsvHeader header_;
  bool says_more_ = false;
  bool is_short_ = false;  ///< op, id and size, in this order
};

}  // namespace memreplay
