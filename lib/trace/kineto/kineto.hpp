#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Traces of PyTorch's profiler with profile_memory=True: a trace for each device, the host's own
/// among them. Without addresses there is none, and the recording says why.
ReaderInfo kineto_reader();

}  // namespace memreplay
