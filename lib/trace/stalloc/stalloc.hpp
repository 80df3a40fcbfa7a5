#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// STAlloc's mem_log_devN.txt: "STATUS POINTER SIZE STREAM", and marks of iterations, micro-batches
/// and layers between them.
ReaderInfo stalloc_reader();

}  // namespace memreplay
