#pragma once

#include "trace/trace.hpp"
#include "trace/value_writer.hpp"

namespace memreplay {

/// Writes the recording as a PyTorch snapshot, with the keys, and in their order, of the release
/// in `settings.oldest_release` (empty: a recent one). Reading it gives an equal recording.
/// Traces need addresses and the state at their end; device numbers are not negative. What a
/// Recording does not hold has PyTorch's defaults: compile_context is 'N/A', segments have no
/// frames. Markers become `annotate` where they have an address, else `snapshot`. O(events).
void write_torch_snapshot(const Recording& recording, ValueWriter& writer);

}  // namespace memreplay
