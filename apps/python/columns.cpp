#include "columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

using Cells = std::vector<std::string_view>;
using Wholes = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

/// Unset where some cell is no number of that kind.
template <typename Number>
std::optional<std::vector<Number>> numbers(const Cells& cells) {
  std::vector<Number> values(cells.size());
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const std::string_view cell = cells[row];
    if (cell.empty()) continue;
    const char* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, values[row]);
    if (error != std::errc{} || stop != end) return std::nullopt;
  }
  return values;
}

TypedColumn column_of(std::string name, const Cells& cells) {
  TypedColumn column{.name = std::move(name)};
  column.missing.reserve(cells.size());
  for (const std::string_view cell : cells) column.missing.push_back(cell.empty());
  const bool none = std::ranges::all_of(cells, &std::string_view::empty);
  if (auto wholes = numbers<std::int64_t>(cells);
      wholes && !(none && !column.name.ends_with("_bytes"))) {
    column.values = std::move(*wholes);
  } else if (auto reals = numbers<double>(cells); reals && !none) {
    column.values = std::move(*reals);
  } else {
    column.values = Texts(cells.begin(), cells.end());
  }
  return column;
}

/// The part of `text` before the next `separator`, which is taken off it.
std::string_view next(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

const TypedColumn& named(const TypedTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &TypedColumn::name);
  if (found == table.columns.end()) throw UsageError("no column '" + std::string(name) + "'");
  return *found;
}

const Wholes& wholes(const TypedColumn& column) { return std::get<Wholes>(column.values); }

}  // namespace

std::vector<std::string> TypedTable::names() const {
  std::vector<std::string> all;
  for (const TypedColumn& column : columns) all.push_back(column.name);
  return all;
}

TypedTable columns_of(const Table& table) {
  TypedTable out{.rows = table.rows.size()};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Cells cells;
    cells.reserve(out.rows);
    for (const auto& row : table.rows) cells.emplace_back(row.at(i));
    out.columns.push_back(column_of(table.columns[i].title, cells));
  }
  return out;
}

TypedTable columns_of(const std::string& csv) {
  std::string_view rest = csv;
  std::string_view header = next(rest, '\n');
  std::vector<std::string> names;
  while (!header.empty()) names.emplace_back(next(header, ','));
  std::vector<Cells> cells(names.size());
  TypedTable out;
  for (; !rest.empty(); ++out.rows) {
    std::string_view line = next(rest, '\n');
    for (Cells& column : cells) column.push_back(next(line, ','));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.columns.push_back(column_of(names[i], cells[i]));
  }
  return out;
}

TypedTable blocks(const TypedTable& events) {
  const TypedColumn& address = named(events, "address");
  TypedTable out;
  for (const char* name : {"id", "address", "size", "from_event", "to_event"}) {
    out.columns.push_back({.name = name, .values = Wholes()});
  }
  if (events.rows == 0) return out;
  const Wholes& ids = wholes(named(events, "id"));
  const Texts& ops = std::get<Texts>(named(events, "op").values);
  const Wholes& numbers = wholes(named(events, "event"));
  const auto append = [&](std::size_t column, std::int64_t value, bool missing = false) {
    std::get<Wholes>(out.columns[column].values).push_back(value);
    out.columns[column].missing.push_back(missing);
  };
  std::unordered_map<std::int64_t, std::size_t> rows;  // rows of live blocks, by id
  for (std::size_t i = 0; i < events.rows; ++i) {
    if (ops[i] == "a") {
      if (address.missing[i]) continue;
      rows[ids[i]] = out.rows++;
      append(0, ids[i]);
      append(1, wholes(address)[i]);
      append(2, wholes(named(events, "size"))[i]);
      append(3, numbers[i]);
      append(4, 0, true);
    } else if (const auto live = rows.find(ids[i]); ops[i] == "f" && live != rows.end()) {
      std::get<Wholes>(out.columns[4].values)[live->second] = numbers[i];
      out.columns[4].missing[live->second] = false;
      rows.erase(live);
    }
  }
  return out;
}

}  // namespace memreplay
