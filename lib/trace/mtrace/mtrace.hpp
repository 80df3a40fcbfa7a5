#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// What glibc's mtrace() writes to the file that MALLOC_TRACE names.
ReaderInfo mtrace_reader();

}  // namespace memreplay
