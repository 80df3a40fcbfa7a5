#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Lifetimes of buffers, one a row, as planners of memory exchange them. At one time frees come
/// before allocations, and these in the order of the rows.
ReaderInfo minimalloc_reader();

}  // namespace memreplay
