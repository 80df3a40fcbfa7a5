#pragma once

#include <string>
#include <vector>

#include "trace/minimalloc/stated_buffer.hpp"
#include "trace/reader.hpp"

namespace memreplay {

/// Lifetimes of buffers, one a row, as planners of memory exchange them. At one time frees come
/// before allocations, and these in the order of the rows.
ReaderInfo minimalloc_reader();

/// The buffers of such a file with all that events do not say. Throws what its reader throws.
std::vector<StatedBuffer> stated_buffers(const std::string& path);

}  // namespace memreplay
