#pragma once

#include <string>

#include "trace/reader.hpp"

namespace memreplay {

/// Our own CSV: one event a row. Every row is kept, those of size 0 too.
ReaderInfo csv_reader();

/// A log of RMM's is such a table, too: told by its header, and by the words and pointers of its
/// first row. False where the extension rmm is not built.
bool is_log_of_rmm(const Input& input);

/// A trace as our own CSV. Blocks from before the recording become allocations at its beginning;
/// driver events and refusals are left out. Such a text, read and
/// written again, stays the same.
std::string write_csv(const Recording& recording, const Trace& trace);

}  // namespace memreplay
