#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// Cuts CSV text into rows and fields (RFC 4180; LF or CR LF; a byte-order mark is skipped; empty
/// lines too). Fields are views into the text, or into this where quotes had to be undone.
class CsvRows {
 public:
  CsvRows(std::string_view file, std::string_view text);

  /// Moves to the next row; false at the end. Throws InputError for a quote that is never closed.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::uint64_t line() const { return line_; }  ///< of the row's beginning, from 1

  /// Throws InputError at the row, or at one of its fields by line and column.
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_at(std::size_t field, std::string_view message) const;

 private:
  void quoted_field();
  void plain_field();

  std::string_view file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::size_t row_start_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> field_starts_;
  std::deque<std::string> unquoted_;
};

/// A text as it must stand in a field of a CSV.
std::string csv_field(std::string_view text);

/// A text for messages: quoted, without control characters, not longer than a line.
std::string shown(std::string_view text);

}  // namespace memreplay
