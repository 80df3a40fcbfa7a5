#include <fmt/format.h>

#include "questions/list/list_report.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

std::string options_text(const ListAnswer& answer, std::size_t width) {
  std::string out = fmt::format(" {}: {}\n", answer.options_of, wrapped(answer.summary, 1, width));
  if (answer.rows.empty()) return out + " It has no options.\n";
  for (const auto& row : answer.rows) {
    out += fmt::format("\n {}={}   default: {}\n     {}\n", row[0], row[1], row[2],
                       wrapped(row[3], 5, width));
  }
  return out;
}

void append_columns(Sheet& out, const ListAnswer& answer) {
  const std::size_t width = out.width();
  out += fmt::format(" {}: {}\n", answer.rows[0][0], wrapped(answer.rows[0][1], 1, width));
  for (const auto& [name, others, meaning] : answer.columns) {
    out +=
        fmt::format("\n {}\n", wrapped(others.empty() ? name : name + ", or " + others, 5, width));
    out += fmt::format("     {}\n", wrapped(meaning, 5, width));
  }
  out += '\n';
  append_paragraph(
      out,
      "Case does not matter in these names, and \"Size (bytes)\" is the same as size_bytes. "
      "Commas, semicolons or tabs separate, as in the header. Other columns are left out, with a "
      "note; --columns id=NAME,size=NAME names the columns to use.");
}

}  // namespace

std::string to_text(const ListAnswer& answer, const TextStyle& style) {
  if (!answer.options_of.empty()) return options_text(answer, style.width);
  Sheet out(style);
  if (!answer.columns.empty()) {
    append_columns(out, answer);
    return out.text();
  }
  append_table(out, to_table(answer));
  if (answer.note.empty()) return out.text();
  out += '\n';
  append_paragraph(out, answer.note);
  return out.text();
}

void fields(JsonFields& f, const ListAnswer& answer) {
  head_fields(f, "list");
  std::vector<ByName<std::string>> rows;
  for (const auto& row : answer.rows) {
    ByName<std::string>& cells = rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) cells.pairs.emplace_back(answer.titles[c], row[c]);
  }
  for (const char* what : {"strategies", "formats", "metrics", "cards", "workloads"}) {
    if (f.sometimes(answer.what == what)) f(what, rows, "a row each, by the titles of the table");
  }
  if (!f.sometimes(!answer.columns.empty())) return;
  const auto column = [](JsonFields& columns, const std::array<std::string, 3>& texts) {
    columns("column", texts[0], "its name");
    columns("other names", texts[1], "that mean the same");
    columns("meaning", texts[2], "what stands in it");
  };
  f("columns", each(answer.columns, column), "of a format");
}

std::string to_json(const ListAnswer& answer) { return dump(JsonFields::of(answer)); }

Table to_table(const ListAnswer& answer) {
  Table table;
  if (!answer.columns.empty()) {
    table.columns = {left("column"), left("other names"), left("meaning")};
    for (const auto& column : answer.columns) table.rows.push_back({column.begin(), column.end()});
    return table;
  }
  const bool numbers = answer.what == "cards";
  for (const std::string& title : answer.titles) table.columns.emplace_back(title, !numbers);
  table.rows = answer.rows;
  return table;
}

}  // namespace memreplay
