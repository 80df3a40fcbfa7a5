#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// The device memory that a program under Nsight Systems obtained and gave back, from the SQLite
/// export or the same columns as CSV. Under a caching allocator these are its segments.
ReaderInfo nsight_reader();

}  // namespace memreplay
