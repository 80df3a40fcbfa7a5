#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// heaptrack's files: raw ones, and interpreted ones, which have no addresses. Of like blocks of
/// these the oldest is freed first.
ReaderInfo heaptrack_reader();

}  // namespace memreplay
