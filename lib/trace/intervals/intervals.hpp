#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// "START END SIZE" a line, as STAlloc's planner and allocatorSim have them: a buffer is live from
/// operation START on, and freed at END.
ReaderInfo intervals_reader();

}  // namespace memreplay
