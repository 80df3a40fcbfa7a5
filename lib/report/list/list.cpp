#include "report/list/list.hpp"

#include <fmt/format.h>

#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string options_text(const ListAnswer& answer) {
  std::string out = fmt::format(" {}: {}\n", answer.strategy, wrapped(answer.summary, 1));
  if (answer.rows.empty()) return out + " It has no options.\n";
  for (const auto& row : answer.rows) {
    out += fmt::format("\n {}={}   default: {}\n     {}\n", row[0], row[1], row[2],
                       wrapped(row[3], 5));
  }
  return out;
}

}  // namespace

std::string to_text(const ListAnswer& answer, const TextStyle& /*style*/) {
  return answer.strategy.empty() ? text_table(to_table(answer)) : options_text(answer);
}

std::string to_json(const ListAnswer& answer) {
  Json rows = Json::array();
  for (const auto& row : answer.rows) {
    Json object;
    for (std::size_t c = 0; c < row.size(); ++c) object[answer.titles[c]] = row[c];
    rows.push_back(std::move(object));
  }
  Json json = head_json("list");
  json[answer.what] = std::move(rows);
  return dump(json);
}

Table to_table(const ListAnswer& answer) {
  Table table;
  for (const std::string& title : answer.titles) table.columns.push_back({title, true});
  table.rows = answer.rows;
  return table;
}

}  // namespace memreplay
