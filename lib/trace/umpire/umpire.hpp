#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// Umpire's replay logs of both generations, a JSON object a line. Its allocators are the pools of
/// one trace: what a pool asks of its parent is not logged.
ReaderInfo umpire_reader();

}  // namespace memreplay
