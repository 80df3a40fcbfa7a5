#include "arrow.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <limits>
#include <new>
#include <numeric>

#include "arrow_abi.hpp"

namespace memreplay {
namespace {

using Table = std::shared_ptr<const TypedTable>;

const char* format_of(const TypedColumn& column) {
  constexpr const char* kFormats[] = {"l", "g", "U"};  // int64, float64, large utf8
  return kFormats[column.values.index()];
}

/// What a schema points to.
struct SchemaParts {
  Table table;
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
  Table table;
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

void give_schema(const Table& table, ArrowSchema& out) {
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

void give_array(const Table& table, ArrowArray& out) {
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
  Table table;
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

}  // namespace

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
