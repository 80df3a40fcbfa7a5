#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memreplay {

/// A text as it is, numbers and truth values as a program reads them; what is unset is empty.
template <class Value>
std::string cell_of(const Value& value) {
  if constexpr (std::same_as<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::integral<Value>) {
    return std::to_string(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? cell_of(*value) : std::string();
  } else {
    return std::string(value);
  }
}

/// Cells as text. The first column is a name and stands left, unless `left` says so of others.
struct Table {
  struct Column {
    Column(const char* text) : title(text) {}
    Column(std::string text, bool is_left = false, unsigned rank = 0)
        : title(std::move(text)), left(is_left), spare(rank) {}
    std::string title;
    bool left = false;
    unsigned spare = 0;  ///< where lines are too short, the highest is left out first; 0: never
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows = {};

  /// A row; cells that are not given are empty.
  template <class... Cells>
  void add(const Cells&... cells) {
    rows.push_back({cell_of(cells)...});
    rows.back().resize(columns.size());
  }
};

inline Table::Column left(std::string title) { return {std::move(title), true}; }
inline Table::Column spare(const char* title, unsigned rank) { return {title, false, rank}; }

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
