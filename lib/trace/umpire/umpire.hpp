#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Umpire's replay logs of both generations, a JSON object a line: a trace for each kind of memory
/// (HOST, PINNED, UM, DEVICE::n), of which its allocators are the pools. What a pool asks of its
/// parent is not logged; an allocator that the log does not make counts for gpu 0.
ReaderInfo umpire_reader();

}  // namespace memreplay
