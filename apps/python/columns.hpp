#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "report/parts/table.hpp"

namespace memreplay {

/// A column of values that are all of one kind, some of them missing.
struct TypedColumn {
  std::string name;
  /// A missing value is the empty text or zero.
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
  std::vector<bool> missing;  ///< by row
};

/// A table as data. Cells without text are missing values.
struct TypedTable {
  std::vector<TypedColumn> columns;
  std::size_t rows = 0;

  std::vector<std::string> names() const;
};

/// Whole numbers where every cell is one, else numbers, else texts. A column without any cell is
/// typed by its name: `_bytes` are whole numbers.
TypedTable columns_of(const Table& table);

/// For a file of --placements, --timeline, --device-events or --segments: its first line names the
/// columns, and no cell is quoted.
TypedTable columns_of(const std::string& csv);

/// What lived from where to where, of a table of --placements: `id, address, size, from_event,
/// to_event`, the last one missing where it lives at the end, in the order of allocation. What was
/// not served is left out.
TypedTable blocks(const TypedTable& events);

/// A PyCapsule "arrow_array_stream" with the table as one record batch, by the Arrow C stream
/// interface: who takes it shares the columns, which live as long as it does.
pybind11::capsule arrow_stream(std::shared_ptr<const TypedTable> table);

}  // namespace memreplay
