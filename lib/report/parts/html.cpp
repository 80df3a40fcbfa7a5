#include "report/parts/html.hpp"

#include <fmt/format.h>

#include "report/parts/escapes.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kPageHead =
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --bound: #b00020;
  --c0: #56b4e9; --c1: #e69f00; --c2: #009e73; --c3: #f0e442;
  --c4: #0072b2; --c5: #d55e00; --c6: #cc79a7; --c7: #b0b8c1; }
@media (prefers-color-scheme: dark) { :root { --bound: #ff6f7d; } }
body { font: 16px/1.5 sans-serif; max-width: 75rem; margin: 1rem auto; padding: 0 1rem; }
svg { width: 100%; border: 1px solid #8c959f; }
.bound { stroke: var(--bound); stroke-width: 2; stroke-dasharray: 8 4; }
.quiet { opacity: 0.75; }
)";

}  // namespace

std::string html_text(std::string_view name, std::string_view text, std::string_view kind) {
  const std::string chosen = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<{0}{1}>{2}</{0}>\n", name, chosen, markup_text(text));
}

std::string html_table(const Table& table, std::string_view caption) {
  const auto kind = [&](std::size_t column) {
    return table.columns[column].left ? " class=\"left\"" : "";
  };
  std::string out =
      fmt::format("<div class=\"scrolls-wide\"><table><caption>{}</caption>\n<thead><tr>",
                  markup_text(caption));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", kind(c), markup_text(table.columns[c].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      out += fmt::format("<td{}>{}</td>", kind(c), markup_text(row[c]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string page_beginning(std::string_view title, std::string_view style,
                           std::string_view heading) {
  return fmt::format("{}{}</style>\n{}</head>\n<body>\n{}", kPageHead, style,
                     html_text("title", title), html_text("h1", heading));
}

}  // namespace memreplay
