#pragma once

#include "core/program.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Lets `program` view the first `end` events of a trace that is left in its file, and gives it the
/// feed that reads them. A column has addresses for all of its events, and memory for those around
/// the one that is played: some blocks of the file. A thread of its own, where there is one to be
/// had, reads a block ahead. Throws std::runtime_error where there are no such addresses. `trace`
/// outlives the program.
void view_streamed(const Trace& trace, std::uint64_t end, Program& program);

}  // namespace memreplay
