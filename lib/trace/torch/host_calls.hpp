#pragma once

#include <string>

#include "trace/trace.hpp"

namespace memreplay {

/// Makes of the entries of PyTorch's pinned memory what its program called: a free that no stream
/// held up is one event, and memory returned without a free shows an `empty_cache`. `conf`: the
/// setting, by which large blocks may go back when they are freed.
void find_host_calls(Trace& trace, const std::string& conf);

}  // namespace memreplay
