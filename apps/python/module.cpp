#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "command.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "line/command_line.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {
namespace {

namespace py = pybind11;
using namespace std::chrono_literals;

/// How often a Ctrl-C is looked for.
constexpr auto kPatience = 50ms;

/// Runs the command beside the interpreter, which meanwhile belongs to other threads.
Ran run_beside(const Asked& asked) {
  std::atomic<bool> stop{false};
  std::optional<py::error_already_set> interruption;
  const py::gil_scoped_release others_go_on;
  auto work = std::async(std::launch::async, [&] { return run_command(asked, stop); });
  while (work.wait_for(kPatience) != std::future_status::ready) {
    const py::gil_scoped_acquire look;
    if (interruption || PyErr_CheckSignals() == 0) continue;
    interruption.emplace();
    stop = true;
  }
  if (interruption) {
    const py::gil_scoped_acquire raise;
    throw py::error_already_set(*interruption);
  }
  return work.get();
}

/// None where a value is missing.
py::list list_of(const TypedColumn& column) {
  py::list out(column.missing.size());
  const auto fill = [&](const auto& values) {
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (column.missing[row]) {
        out[row] = py::none();
      } else {
        out[row] = py::cast(values[row]);
      }
    }
  };
  std::visit(fill, column.values);
  return out;
}

/// int, float or str.
py::object kind_of(const TypedColumn& column) {
  constexpr const char* kNames[] = {"int", "float", "str"};
  return py::module_::import("builtins").attr(kNames[column.values.index()]);
}

/// Texts and numbers, for a process elsewhere.
py::tuple state_of(const Table& table) {
  py::list columns;
  for (const Table::Column& c : table.columns) {
    columns.append(py::make_tuple(c.title, c.left, c.spare));
  }
  return py::make_tuple(columns, table.rows);
}

Table table_of(const py::tuple& state) {
  Table table{.rows = state[1].cast<std::vector<std::vector<std::string>>>()};
  using Column = std::tuple<std::string, bool, unsigned>;
  for (auto& [title, left, spare] : state[0].cast<std::vector<Column>>()) {
    table.columns.push_back({std::move(title), left, spare});
  }
  return table;
}

py::tuple state_of(const Ran& ran) {
  return py::make_tuple(ran.status, ran.json, ran.text, ran.markdown, ran.table, ran.output,
                        ran.notes);
}

Ran ran_of(const py::tuple& state) {
  return {.status = state[0].cast<int>(),
          .json = state[1].cast<std::optional<std::string>>(),
          .text = state[2].cast<std::string>(),
          .markdown = state[3].cast<std::optional<std::string>>(),
          .table = state[4].cast<std::optional<Table>>(),
          .output = state[5].cast<std::string>(),
          .notes = state[6].cast<std::vector<std::string>>()};
}

void raise(const char* name, const py::object& arguments) {
  const py::object type = py::module_::import("memreplay._errors").attr(name);
  PyErr_SetObject(
      type.ptr(),
      py::reinterpret_steal<py::object>(PyObject_CallObject(type.ptr(), arguments.ptr())).ptr());
}

/// As os.fsdecode has it: a name may hold any byte.
py::object decoded(const std::string& name) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<py::ssize_t>(name.size())));
}

/// What is shown of an error: one line.
std::string shown(std::string_view message) { return terminal_line(message, {.unicode = true}); }

void translate(std::exception_ptr exception) {
  try {
    if (exception) std::rethrow_exception(exception);
  } catch (const InputError& error) {
    raise("InputError", py::make_tuple(decoded(error.file()), error.place(), shown(error.message()),
                                       shown(error.what())));
  } catch (const UnknownOption& error) {
    raise("UnknownOption",
          py::make_tuple(shown(error.what()), shown(error.name()), error.nearest()));
  } catch (const UsageError& error) {
    raise("UsageError", py::make_tuple(shown(error.what())));
  }
}

}  // namespace
}  // namespace memreplay

PYBIND11_MODULE(_memreplay, module) {
  using namespace memreplay;
  module.attr("__version__") = MEMREPLAY_VERSION;
  py::register_exception_translator(translate);
  py::class_<RecordingSource, std::shared_ptr<RecordingSource>>(module, "RecordingSource");
  module.def("source_of_bytes", [](const py::bytes& content) {
    return std::shared_ptr<RecordingSource>(source_of_bytes(content));
  });
  module.def("source_of_snapshot", [](const py::object& snapshot, const std::string& name) {
    return std::shared_ptr<RecordingSource>(source_of_snapshot(snapshot, name));
  });
  module.def("parse_size", parse_size);  // bytes of "24GiB"; None for what is no size
  py::class_<Table>(module, "Table")
      .def(py::pickle([](const Table& table) { return state_of(table); }, &table_of));
  py::class_<Ran>(module, "Ran")
      .def_readonly("status", &Ran::status)
      .def_readonly("json", &Ran::json)
      .def_readonly("text", &Ran::text)
      .def_readonly("markdown", &Ran::markdown)
      .def_readonly("table", &Ran::table)
      .def_readonly("output", &Ran::output)
      .def_readonly("notes", &Ran::notes)
      .def(py::pickle([](const Ran& ran) { return state_of(ran); }, &ran_of));
  module.def("run", [](const std::string& command, const std::vector<std::string>& arguments,
                       const std::map<std::string, std::shared_ptr<RecordingSource>>& sources) {
    return run_beside({command, arguments, {sources.begin(), sources.end()}});
  });
  py::class_<TypedTable, std::shared_ptr<TypedTable>>(module, "TypedTable")
      .def(py::init(
          [](const Table& table) { return std::make_shared<TypedTable>(columns_of(table)); }))
      .def(py::init(
          [](const std::string& csv) { return std::make_shared<TypedTable>(columns_of(csv)); }))
      .def("blocks",
           [](const TypedTable& events) { return std::make_shared<TypedTable>(blocks(events)); })
      .def_property_readonly("names", &TypedTable::names)
      .def_readonly("rows", &TypedTable::rows)
      .def("kind",
           [](const TypedTable& table, std::size_t i) { return kind_of(table.columns.at(i)); })
      .def("values",
           [](const TypedTable& table, std::size_t i) { return list_of(table.columns.at(i)); })
      .def("arrow_stream", &arrow_stream);
}
