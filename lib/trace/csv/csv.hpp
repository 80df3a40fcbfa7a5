#pragma once

#include <string>

#include "trace/reader.hpp"

namespace memreplay {

/// Our own CSV: one event a row. Every row is kept, those of size 0 too.
ReaderInfo csv_reader();

/// A trace as our own CSV. Blocks from before the recording become allocations at its beginning;
/// driver events and refusals are left out. Such a text, read and
/// written again, stays the same.
std::string write_csv(const Recording& recording, const Trace& trace);

}  // namespace memreplay
