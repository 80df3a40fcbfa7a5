#include "report/parts/table.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>

#include "report/parts/escapes.hpp"

namespace memreplay {
namespace {

std::string padded(std::string_view text, std::size_t width, bool left) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return left ? std::string(text) + blanks : blanks + std::string(text);
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

std::vector<std::string> titles(const Table& table) {
  std::vector<std::string> result;
  for (const auto& column : table.columns) result.push_back(column.title);
  return result;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// How a table is set.
struct TableLayout {
  std::vector<std::size_t> columns;  ///< those that are shown
  std::vector<std::size_t> widths;   ///< by column shown
  std::size_t long_names = 0;        ///< rows whose first cell stands on a line of its own
  std::size_t total = 0;             ///< columns of the terminal
};

TableLayout layout_of(const Table& table, std::vector<std::size_t> columns, bool fold_titles,
                      std::size_t width) {
  constexpr std::size_t kLeastName = 12;
  constexpr std::size_t kLeastText = 12;
  constexpr std::size_t kProse = 32;
  TableLayout layout{.columns = std::move(columns)};
  std::size_t others = 1;
  for (const std::size_t c : layout.columns) {
    const std::string& title = table.columns[c].title;
    std::size_t widest = c > 0 && fold_titles ? longest_word(title) : display_width(title);
    for (const auto& row : table.rows) {
      if (c > 0) widest = std::max(widest, display_width(row[c]));
    }
    layout.widths.push_back(widest);
    if (c > 0) others += widest + 2;
  }
  const std::size_t title = display_width(table.columns[0].title);
  std::size_t longest = title;
  for (const auto& row : table.rows) longest = std::max(longest, display_width(row[0]));
  std::size_t& last = layout.widths.back();
  const bool text = layout.columns.size() > 1 && table.columns[layout.columns.back()].left;
  // Prose makes room for names, what is shorter only where there is none at all.
  const std::size_t needed = others + (last > kProse ? longest : kLeastName);
  if (text && needed > width && last > kLeastText) {
    others -= last;
    last = std::max(kLeastText, last - std::min(last, needed - width));
    others += last;
  }
  const std::size_t room = width > others + kLeastName ? width - others : kLeastName;
  std::size_t name = title <= room ? title : 0;  // the widest for which there is room
  for (const auto& row : table.rows) {
    const std::size_t wide = display_width(row[0]);
    if (wide <= room || layout.columns.size() == 1) name = std::max(name, wide);
  }
  layout.widths[0] = name;
  layout.total = others + layout.widths[0];
  layout.long_names = static_cast<std::size_t>(std::ranges::count_if(
      table.rows, [&](const auto& row) { return display_width(row[0]) > layout.widths[0]; }));
  return layout;
}

// Whether it fits and, where the table is long, takes few more lines than it has rows.
bool is_good(const TableLayout& layout, const Table& table, std::size_t width) {
  constexpr std::size_t kShortTable = 8;
  if (layout.total > width) return false;
  return table.rows.size() <= kShortTable || 8 * layout.long_names <= table.rows.size();
}

TableLayout layout_for(const Table& table, std::size_t width) {
  std::vector<std::size_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::vector<TableLayout> tried = {layout_of(table, columns, false, width)};
  while (!is_good(tried.back(), table, width)) {
    if (tried.size() > 1) {
      const auto least = std::ranges::max_element(
          columns, {}, [&](std::size_t c) { return table.columns[c].spare; });
      if (table.columns[*least].spare == 0) break;
      columns.erase(least);
    }
    tried.push_back(layout_of(table, columns, true, width));
  }
  if (is_good(tried.back(), table, width)) return std::move(tried.back());
  const auto fits =
      std::ranges::find_if(tried, [&](const TableLayout& layout) { return layout.total <= width; });
  return fits == tried.end() ? std::move(tried.back()) : std::move(*fits);
}

std::vector<std::string> lines_of(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream broken(wrapped(text, 0, width));
  for (std::string line; std::getline(broken, line);) lines.push_back(std::move(line));
  return lines;
}

// Cells of several lines end, or begin, on the same one.
void append_cells(std::string& out, const Table& table, const TableLayout& layout,
                  const std::vector<std::vector<std::string>>& cells, bool at_the_bottom) {
  std::size_t height = 1;
  for (const auto& cell : cells) height = std::max(height, cell.size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line = " ";
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const std::size_t above = at_the_bottom ? height - cells[n].size() : 0;
      const bool there = i >= above && i - above < cells[n].size();
      const std::size_t c = layout.columns[n];
      if (n > 0) line += "  ";
      line += padded(there ? cells[n][i - above] : "", layout.widths[n],
                     c == 0 || table.columns[c].left);
    }
    append_line(out, std::move(line));
  }
}

void append_row(std::string& out, const Table& table, const TableLayout& layout,
                const std::vector<std::string>& row, bool titles = false) {
  std::vector<std::vector<std::string>> cells;
  for (std::size_t n = 0; n < layout.columns.size(); ++n) {
    const std::string& cell = row[layout.columns[n]];
    const bool too_wide = display_width(cell) > layout.widths[n];
    if (n == 0 && too_wide) {
      append_line(out, " " + cell);
      const auto empty = [&](std::size_t c) { return row[c].empty(); };
      if (std::all_of(layout.columns.begin() + 1, layout.columns.end(), empty)) return;
    }
    cells.push_back(n == 0     ? std::vector{too_wide ? std::string() : cell}
                    : too_wide ? lines_of(cell, layout.widths[n])
                               : std::vector{cell});
  }
  append_cells(out, table, layout, cells, titles);
}

// A row is a line, also where a name of a recording holds a line break.
Table of_lines(Table table) {
  for (auto& row : table.rows) {
    for (std::string& cell : row) std::ranges::replace(cell, '\n', ' ');
  }
  return table;
}

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

/// In code too a column ends at |.
std::string markdown_column(std::string_view cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string rows_of_markdown(const Table& table, std::string (*shown)(std::string_view)) {
  std::string out;
  const auto append_row = [&](const std::vector<std::string>& row) {
    out += '|';
    for (const auto& cell : row) out += ' ' + shown(cell) + " |";
    out += '\n';
  };
  append_row(titles(table));
  out += '|';
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += c == 0 || table.columns[c].left ? " --- |" : " ---: |";
  }
  out += '\n';
  for (const auto& row : table.rows) append_row(row);
  return out;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string text_table(const Table& given, std::size_t width) {
  const Table table = of_lines(given);
  const TableLayout layout = layout_for(table, width);
  std::string out;
  append_row(out, table, layout, titles(table), true);
  for (const auto& row : table.rows) append_row(out, table, layout, row);
  std::string missing;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    if (std::ranges::find(layout.columns, c) != layout.columns.end()) continue;
    missing += (missing.empty() ? " (no room for: " : ", ") + table.columns[c].title;
  }
  return missing.empty() ? out : out + missing + ")\n";
}

std::string csv_table(const Table& table) {
  std::string out;
  const auto append_row = [&](const std::vector<std::string>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c > 0 ? "," : "") + csv_cell(row[c]);
    out += '\n';
  };
  append_row(titles(table));
  for (const auto& row : table.rows) append_row(row);
  return out;
}

std::string markdown_table(const Table& table) { return rows_of_markdown(table, markdown_words); }

std::string table_of_markdown(const Table& table) {
  return rows_of_markdown(table, markdown_column);
}

namespace {

bool is_unit(std::string_view word) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "%", "s", "ms", "us"};
  word = word.substr(0, word.find_last_not_of(".,;:)") + 1);
  return std::ranges::find(kUnits, word) != std::end(kUnits);
}

// Where the first word ends; a number keeps its unit.
std::size_t end_of_word(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || end == text.size() || text[end - 1] < '0' || text[end - 1] > '9') return end;
  const std::size_t next = std::min(text.find(' ', end + 1), text.size());
  return is_unit(text.substr(end + 1, next - end - 1)) ? next : end;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + display_width(word) > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace memreplay
