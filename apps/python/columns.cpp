#include "columns.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <deque>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrow_abi.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

using SharedTable = std::shared_ptr<const TypedTable>;

const char* format_of(const TypedColumn& column) {
  constexpr const char* kFormats[] = {"l", "g", "U"};  // int64, float64, large utf8
  return kFormats[column.values.index()];
}

/// What a schema points to.
struct SchemaParts {
  SharedTable table;
  std::deque<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
};

/// What the array of a column points to, the numbers apart, which stay where they are.
struct ColumnParts {
  std::vector<std::uint8_t> valid;
  std::vector<std::int64_t> offsets;
  std::string text;
  std::vector<const void*> buffers;
};

struct ArrayParts {
  SharedTable table;
  std::deque<ColumnParts> columns;
  std::deque<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  const void* no_buffer = nullptr;
};

/// A child's share of its parent's parts is let go by the parent; a child that was moved elsewhere
/// holds on to them itself, which is why they are shared.
template <typename Arrow, typename Parts>
void release(Arrow* arrow) {
  for (std::int64_t i = 0; i < arrow->n_children; ++i) {
    if (arrow->children[i]->release != nullptr) arrow->children[i]->release(arrow->children[i]);
  }
  delete static_cast<std::shared_ptr<Parts>*>(arrow->private_data);
  arrow->release = nullptr;
}

void give_schema(const SharedTable& table, ArrowSchema& out) {
  const auto parts = std::make_shared<SchemaParts>();
  parts->table = table;
  for (const TypedColumn& column : table->columns) {
    parts->children.push_back({.format = format_of(column),
                               .name = column.name.c_str(),
                               .flags = kArrowNullable,
                               .release = release<ArrowSchema, SchemaParts>,
                               .private_data = new std::shared_ptr(parts)});
    parts->child_pointers.push_back(&parts->children.back());
  }
  out = {.format = "+s",
         .name = "",
         .n_children = static_cast<std::int64_t>(parts->children.size()),
         .children = parts->child_pointers.data(),
         .release = release<ArrowSchema, SchemaParts>,
         .private_data = new std::shared_ptr(parts)};
}

std::vector<std::uint8_t> bits_of_valid(const TypedColumn& column) {
  std::vector<std::uint8_t> bits((column.missing.size() + 7) / 8);
  for (std::size_t row = 0; row < column.missing.size(); ++row) {
    if (!column.missing[row]) bits[row / 8] |= static_cast<std::uint8_t>(1U << row % 8);
  }
  return bits;
}

void add_values(const std::vector<std::string>& texts, ColumnParts& parts) {
  parts.offsets.push_back(0);
  for (const std::string& text : texts) {
    parts.text += text;
    parts.offsets.push_back(static_cast<std::int64_t>(parts.text.size()));
  }
  parts.buffers.push_back(parts.offsets.data());
  parts.buffers.push_back(parts.text.data());
}

template <typename Number>
void add_values(const std::vector<Number>& numbers, ColumnParts& parts) {
  parts.buffers.push_back(numbers.data());
}

ArrowArray array_of(const TypedColumn& column, const std::shared_ptr<ArrayParts>& all) {
  ColumnParts& parts = all->columns.emplace_back();
  parts.valid = bits_of_valid(column);
  parts.buffers.push_back(parts.valid.data());
  std::visit([&](const auto& values) { add_values(values, parts); }, column.values);
  return {.length = static_cast<std::int64_t>(column.missing.size()),
          .null_count = std::ranges::count(column.missing, true),
          .n_buffers = static_cast<std::int64_t>(parts.buffers.size()),
          .buffers = parts.buffers.data(),
          .release = release<ArrowArray, ArrayParts>,
          .private_data = new std::shared_ptr(all)};
}

void give_array(const SharedTable& table, ArrowArray& out) {
  const auto parts = std::make_shared<ArrayParts>();
  parts->table = table;
  for (const TypedColumn& column : table->columns) {
    parts->children.push_back(array_of(column, parts));
    parts->child_pointers.push_back(&parts->children.back());
  }
  out = {.length = static_cast<std::int64_t>(table->rows),
         .n_buffers = 1,
         .n_children = static_cast<std::int64_t>(parts->children.size()),
         .buffers = &parts->no_buffer,
         .children = parts->child_pointers.data(),
         .release = release<ArrowArray, ArrayParts>,
         .private_data = new std::shared_ptr(parts)};
}

struct StreamParts {
  SharedTable table;
  bool given = false;
};

StreamParts& parts_of(ArrowArrayStream* stream) {
  return *static_cast<StreamParts*>(stream->private_data);
}

/// Exceptions do not pass through C.
template <typename Give>
int guarded(Give give) {
  try {
    give();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded([&] { give_schema(parts_of(stream).table, *out); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded([&] {
    *out = {};
    if (parts_of(stream).given) return;
    give_array(parts_of(stream).table, *out);
    parts_of(stream).given = true;
  });
}

const char* get_last_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete &parts_of(stream);
  stream->release = nullptr;
}

void release_capsule(PyObject* capsule) {
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

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

pybind11::capsule arrow_stream(std::shared_ptr<const TypedTable> table) {
  auto* stream = new ArrowArrayStream{.get_schema = get_schema,
                                      .get_next = get_next,
                                      .get_last_error = get_last_error,
                                      .release = release_stream,
                                      .private_data = new StreamParts{std::move(table)}};
  return pybind11::reinterpret_steal<pybind11::capsule>(
      PyCapsule_New(stream, "arrow_array_stream", release_capsule));
}

}  // namespace memreplay
