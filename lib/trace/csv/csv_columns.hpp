#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/csv_rows.hpp"
#include "trace/reader.hpp"

namespace memreplay {

enum CsvColumn : std::size_t {
  kOp,
  kId,
  kSize,
  kStream,
  kDevice,
  kPool,
  kThread,
  kTime,
  kAlign,
  kTag,
  kFreedBefore,
  kEnd,
  kCsvColumns
};

/// Each column by our own name, in the order of CsvColumn.
std::span<const ColumnInfo> csv_columns();

// A request that the program did not get; and, in no row of ours, what its allocator did.
inline constexpr char kFailedOp = 'o';
inline constexpr char kDriverOp = 'd';

/// 'a' for "malloc": one of "afcemso" or of those above. Unset for a word that is not known.
std::optional<char> csv_op(std::string_view word);

/// What the first line of a CSV says.
struct CsvHeader {
  std::array<std::optional<std::size_t>, kCsvColumns> places;
  std::vector<std::string> names;  ///< as they stand there
  bool own = true;                 ///< nothing but our own names and commas
  CsvTimeUnit time = CsvTimeUnit::us;
  std::vector<std::string> notes;  ///< which columns are left out, and why
};

/// Which character separates the fields, as the first line shows.
char csv_separator(std::string_view text);

/// Reads the row at which `rows` stands. `by_hand` has columns that are named so, "id=ptr,size=n".
/// Throws InputError where a column is named twice or a needed one not at all, UsageError where
/// `by_hand` is not valid.
CsvHeader read_csv_header(const CsvRows& rows, std::string_view by_hand);

}  // namespace memreplay
