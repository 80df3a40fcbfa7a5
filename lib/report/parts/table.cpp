#include "report/parts/table.hpp"

#include <algorithm>

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

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string markdown_cell(const std::string& cell) {
  std::string escaped;
  for (const char c : cell) {
    if (c == '|' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string text_table(const Table& table, std::size_t width) {
  const std::size_t count = table.columns.size();
  std::vector<std::size_t> widths(count, 0);
  for (std::size_t c = 0; c < count; ++c) {
    widths[c] = display_width(table.columns[c].title);
    if (c == 0) continue;
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::size_t others = 1;
  for (std::size_t c = 1; c < count; ++c) others += widths[c] + 2;
  const std::size_t room = width > others + 12 ? width - others : 12;
  for (const auto& row : table.rows) {
    const std::size_t name = display_width(row[0]);
    if (name <= room || count == 1) widths[0] = std::max(widths[0], name);
  }

  std::string out;
  const auto append_row = [&](const std::vector<std::string>& row) {
    std::string line = " ";
    std::size_t c = 0;
    if (display_width(row[0]) > widths[0]) {
      append_line(out, " " + row[0]);
      line += std::string(widths[0], ' ');
      c = 1;
    }
    for (; c < count; ++c) {
      if (c > 0) line += "  ";
      line += padded(row[c], widths[c], c == 0 || table.columns[c].left);
    }
    append_line(out, std::move(line));
  };
  append_row(titles(table));
  for (const auto& row : table.rows) append_row(row);
  return out;
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

std::string markdown_table(const Table& table) {
  std::string out;
  const auto append_row = [&](const std::vector<std::string>& row) {
    out += '|';
    for (const auto& cell : row) out += ' ' + markdown_cell(cell) + " |";
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

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
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
