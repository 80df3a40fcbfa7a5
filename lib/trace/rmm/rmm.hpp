#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// The CSV log of the RAPIDS Memory Manager, one file a device. Requests that failed are in it; of
/// the per-thread default stream each thread has its own.
ReaderInfo rmm_reader();

/// By its header, and by the words and pointers of its first row: a table of one's own may have the
/// same names.
bool is_rmm(const Input& input);

}  // namespace memreplay
