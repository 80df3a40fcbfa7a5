#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"

namespace memreplay {

/// Cuts CSV text into rows and fields (RFC 4180; LF or CR LF; a byte-order mark is skipped; empty
/// lines too). Fields are views into the text, or into this where quotes had to be undone.
class CsvRows {
 public:
  CsvRows(std::string_view file, std::string_view text, char separator = ',');

  /// Whether blanks around fields belong to them, from the next row on. Default: they do.
  void keep_blanks(bool keep);
  /// Whether the row has blanks around a field, or in it.
  bool has_blanks() const;
  /// Moves to the next row; false at the end. Throws InputError for a quote that is never closed.
  bool next();
  /// Adds empty fields to the row where it has fewer.
  void fill_up(std::size_t count);
  /// Moves past the row that comes next, of so many characters with its end, which has been read by
  /// other means.
  void pass(std::size_t characters) {
    row_start_ = at_;
    at_ += characters;
    line_ = next_line_++;
  }
  /// From the row that comes next to the end of the text.
  std::string_view ahead() const { return text_.substr(at_); }
  char separator() const { return separator_; }
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// The number that up to 19 digits are, of a field; false for anything else.
  bool read_digits(std::string_view field, std::uint64_t& number) const {
    return memreplay::read_digits(with_rest(field, text_), field.size(), number);
  }
  const char* rest() const { return text_.data() + at_; }  ///< after the row
  std::uint64_t line() const { return line_; }             ///< where the row begins, from 1
  std::string place() const { return "line " + std::to_string(line_); }

  /// Throws InputError at the row, or at one of its fields by line and column.
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_at(std::size_t field, std::string_view message) const;

 private:
  [[noreturn]] void fail_from(std::size_t start, std::string_view message) const;
  void add_field(std::string_view field) {
    if (count_ == fields_.size()) add_place();
    fields_[count_++] = field;
  }
  void add_place();
  std::uint64_t marks(std::size_t at) const;
  bool plain_row();
  std::size_t start_of(std::size_t field) const;
  void quoted_field();
  void plain_field();
  void skip_blanks();

  /// What a byte is to a row without quotes and blanks.
  enum class Kind : std::uint8_t { text, separator, end, other };

  std::string_view file_;
  std::string_view text_;
  std::array<Kind, 256> kinds_ = {};
  std::size_t last_end_ = 0;  ///< after it no row ends by a line feed
  char separator_;
  bool trims_ = false;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t next_line_ = 1;
  std::size_t row_start_ = 0;
  std::vector<std::string_view> fields_;
  std::size_t count_ = 0;  ///< fields of this row so far; after them those of the row before
  std::vector<std::pair<std::size_t, std::size_t>> quotes_;  ///< field, and where its quote opens
  std::deque<std::string> unquoted_;
};

/// A text as it must stand in a field of a CSV.
std::string csv_field(std::string_view text);

/// A text for messages: quoted, without control characters, not longer than a line.
std::string shown(std::string_view text, std::size_t longest = 40);

/// The names of a header for messages.
std::string header_text(std::span<const std::string> names);

/// Without the blanks at its ends.
std::string_view trimmed(std::string_view text);

/// What a number in a column of times counts. `undecided`: seconds as soon as one has a fraction,
/// microseconds until then; also a clock, "2024-05-01 09:15:02.25" or "09:15:02.25". `trace_us`:
/// microseconds, which may have a fraction, or a clock.
enum class CsvTimeUnit { us, ns, ms, s, undecided, trace_us };

/// By the ending of a column's name: "time_ns"; of "ts" alone that of tools for traces.
CsvTimeUnit csv_time_unit(std::string_view name);
/// Whether only its values tell what they are.
constexpr bool is_undecided(CsvTimeUnit unit) { return unit >= CsvTimeUnit::undecided; }

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
