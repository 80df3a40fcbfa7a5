#pragma once

#include <string>

#include "trace/reader.hpp"

namespace memreplay {

/// Our own CSV: one event a row. Every row is kept, those of size 0 too.
ReaderInfo csv_reader();

/// The same trace as CSV. Blocks from before the recording become allocations at its beginning;
/// driver events and refusals are left out. What was read from such a text gives it again.
std::string write_csv(const Recording& recording, const Trace& trace);

}  // namespace memreplay
