#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "columns.hpp"

namespace memreplay {

/// A PyCapsule "arrow_array_stream" with the table as one record batch, by the Arrow C stream
/// interface: who takes it shares the columns, which live as long as it does.
pybind11::capsule arrow_stream(std::shared_ptr<const TypedTable> table);

}  // namespace memreplay
