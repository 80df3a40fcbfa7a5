#pragma once

#include "options/options.hpp"

namespace memreplay {

/// Lets long traces stay in their file: for a command whose answer comes from events in their
/// order, each seen once.
void leave_in_file(ReadOptions& read);

/// Whether replays as asked for can be made so: nothing looks at events otherwise than in turn.
bool can_leave_in_file(const RunOptions& options);

}  // namespace memreplay
