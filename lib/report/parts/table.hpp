#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memreplay {

/// Cells as text. The first column is a name and stands left, unless `left` says so of others.
struct Table {
  struct Column {
    std::string title;
    bool left = false;
    unsigned spare = 0;  ///< where lines are too short, the highest is left out first; 0: never
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// Aligned, one blank before each line. What does not fit in `width` columns is folded: titles, a
/// last column of text, then a first cell onto a line of its own. Where that is not enough, or of a
/// long table would take every other line, spare columns are left out, and named below.
std::string text_table(const Table& table, std::size_t width = 100);
/// RFC 4180, with a header line.
std::string csv_table(const Table& table);
std::string markdown_table(const Table& table);

/// Columns that a UTF-8 text takes on a terminal, for the letters that the reports use.
std::size_t display_width(std::string_view text);

/// Breaks a text at blanks so that no line passes `width`, where the first one starts in column
/// `indent` and the others are indented to it.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 100);

}  // namespace memreplay
