#include "report/page/html.hpp"

#include <fmt/format.h>

namespace memreplay {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_text(std::string_view name, std::string_view text, std::string_view kind) {
  const std::string chosen = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<{0}{1}>{2}</{0}>\n", name, chosen, escaped(text));
}

std::string html_table(const Table& table, std::string_view caption) {
  const auto kind = [&](std::size_t column) {
    return table.columns[column].left ? " class=\"left\"" : "";
  };
  std::string out = fmt::format(
      "<div class=\"scrolls-wide\"><table><caption>{}</caption>\n<thead><tr>", escaped(caption));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", kind(c), escaped(table.columns[c].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      out += fmt::format("<td{}>{}</td>", kind(c), escaped(row[c]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace memreplay
