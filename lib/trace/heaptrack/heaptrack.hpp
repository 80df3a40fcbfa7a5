#pragma once

#include "trace/reader.hpp"

namespace memreplay {

/// heaptrack's files: raw ones, and interpreted ones, which have no addresses. There the oldest of
/// several like blocks is freed first.
ReaderInfo heaptrack_reader();

}  // namespace memreplay
